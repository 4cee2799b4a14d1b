"""Porto Taxi 3×3 and 7×7: the busy taxis of the busiest month, every ten minutes, on the authors' own grid.

    trips with all their points -> the densest month -> taxis with more trips than the mean ->
    the earliest point of each taxi and interval -> cells of the published grid

The grid lies in the plane that the authors chose: the globe seen from above the pole. That
plane shows north-south lengths at two thirds, so a cell of 2 by 2 kilometres in it is about
2 by 3 on the ground. Cells carry the numbers of the columns of the published counts.
"""

from __future__ import annotations

import calendar
import datetime as dt
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import duckdb
import numpy as np
import numpy.typing as npt

from trajlab.errors import IngestError, UnknownNameError
from trajlab.ingest._files import DataFile, find
from trajlab.ingest._tables import open_file
from trajlab.prepare import Draft, Size, whole_degrees
from trajlab.query import step
from trajlab.release.slots import slot_seconds

_COLUMNS = ("TAXI_ID", "TIMESTAMP", "MISSING_DATA", "POLYLINE")


@dataclass(frozen=True, slots=True)
class Grid:
    """Square cells in kilometres of the plane (R cos φ cos λ, R cos φ sin λ), numbered from the north-west."""

    corner: tuple[float, float]
    """Where the first cell begins, on the axis that runs south and on the one that runs east."""
    cells: int
    """Along each side."""
    side: float = 2.0
    radius: float = 6317.0
    """R as in the notebook; the earth has 6371."""

    def degrees(self, south: npt.ArrayLike, east: npt.ArrayLike) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Longitude and latitude of points of the plane."""
        south, east = np.asarray(south, dtype=np.float64), np.asarray(east, dtype=np.float64)
        return np.degrees(np.arctan2(east, south)), np.degrees(np.arccos(np.hypot(south, east) / self.radius))

    def centres(self) -> npt.NDArray[np.float64]:
        """(cells², 2) kilometres south and east of the plane's origin, in the order of the numbers."""
        along = (np.arange(self.cells) + 0.5) * self.side
        south, east = np.meshgrid(self.corner[0] + along, self.corner[1] + along, indexing="ij")
        return np.column_stack([south.ravel(), east.ravel()])

    def outlines(self) -> npt.NDArray[np.float64]:
        """(cells², points, 2) longitudes and latitudes; edges bend in degrees, so they have points between."""
        step = np.linspace(0, 1, 9)[:-1]
        still = np.zeros_like(step)
        round_it = np.column_stack(
            [np.r_[still, step, still + 1, 1 - step, 0], np.r_[step, still + 1, 1 - step, still, 0]]
        )
        points = self.centres()[:, None, :] + (round_it - 0.5) * self.side
        return np.stack(self.degrees(points[..., 0], points[..., 1]), axis=-1)

    def geojson(self) -> dict[str, Any]:
        wide = len(str(self.cells**2 - 1))  # zones are ordered by their text
        cells = [
            {
                "type": "Feature",
                "properties": {"zone": f"{number:0{wide}}"},
                "geometry": {"type": "Polygon", "coordinates": [ring]},
            }
            for number, ring in enumerate(self.outlines().tolist())
        ]
        return {"type": "FeatureCollection", "features": cells}


@dataclass(frozen=True, slots=True)
class Porto:
    grid: Grid
    published: Size
    interval: int = 600
    days: int = 30
    busy: Literal["month", "week"] = "month"
    """Where a taxi must have made more trips than the mean: the densest month, or its densest whole week."""

    def __post_init__(self) -> None:
        slot_seconds(self.interval)
        if self.busy not in (known := ("month", "week")):
            raise UnknownNameError("period to be busy in", self.busy, known)

    def follow(self, con: duckdb.DuckDBPyConnection, download: Path) -> Draft:
        with ExitStack() as cleanup:
            name = _open_download(con, download, cleanup)
            con.execute(f"create or replace temp table typed_line as {step('1_records/_prepare_porto_lines')}")
            con.execute(f"create or replace temp table trip as {step('1_records/_prepare_porto_trips')}")
            total, whole, month, most = con.sql(step("1_records/_prepare_porto_months")).fetchall()[0]
            if not whole:
                raise IngestError(f"{name}: none of its {total:,} trips has all its points")
            steps = [f"{total:,} trips read, {whole:,} have all their points and no twin at the same second"]
            steps.append(f"the month with most trips is {month:%Y-%m}, with {most:,} of them")
            period = month if self.busy == "month" else _densest_week(con, month)
            steps.append(self._busy_taxis(con, name, period))
            days = min(self.days, calendar.monthrange(month.year, month.month)[1])
            start = int(dt.datetime.combine(month, dt.time(), dt.UTC).timestamp())
            chosen = {"start": start, "end": start + days * 86_400, "interval": self.interval, "month": month}
            records = con.sql(step("1_records/_prepare_porto_positions"), params=chosen).pl()
        if records.is_empty():
            raise IngestError(f"{name}: no polyline of the chosen trips is understood")
        steps.append(f"{len(records):,} positions are left with one per taxi and {self.interval} s")
        outlines = self.grid.outlines()
        low, high = outlines.min(axis=(0, 1)), outlines.max(axis=(0, 1))
        release = {
            "index": "zones", "slot": self.interval, "fill": "static", "tz": "UTC", "start": month, "days": days,
            "box": whole_degrees((low[0], low[1]), (high[0], high[1])), "outside": "clamp",
        }  # fmt: skip
        return Draft(records, release, steps, zones=self.grid.geojson())

    def _busy_taxis(self, con: duckdb.DuckDBPyConnection, name: str, period: dt.date) -> str:
        taxis = step("1_records/_prepare_porto_taxis")
        con.execute(f"create or replace temp table taxi as {taxis}", {"by": self.busy, "period": period})
        total, mean, busy = con.sql("select count(*), avg(trips), count(*) filter (busy) from taxi").fetchall()[0]
        if not busy:
            raise IngestError(
                f"{name}: all {total} taxis made {mean:g} trips in the densest {self.busy}, so none is above the mean"
            )
        return f"{total:,} taxis made {mean:.1f} trips on average in that {self.busy}, {busy:,} made more"


def _open_download(con: duckdb.DuckDBPyConnection, download: Path, cleanup: ExitStack) -> str:
    """Make the download the view `download_line`; returns its name."""
    files, _ = find([download])
    if len(files) > 1:
        raise IngestError(f"{download.name}: holds {len(files)} files; give train.csv itself")
    file: DataFile = files[0]
    table = open_file(con, file, cleanup)
    there = {column.strip().upper(): place for column, place in table.columns.items()}
    if lacking := [column for column in _COLUMNS if column not in there]:
        raise IngestError(f"{file.name}: not Porto's train.csv, it has no column {lacking[0]}")
    columns = ", ".join(f"{there[column]} as {column.lower()}" for column in _COLUMNS)
    con.register("download", table.relation)
    cleanup.callback(con.unregister, "download")
    lines = f"select source_row, fault, {columns} from download"  # noqa: S608
    con.execute(f"create or replace temp view download_line as {lines}")
    return file.name


def _densest_week(con: duckdb.DuckDBPyConnection, month: dt.date) -> dt.date:
    """The Monday of the week with most trips, of those that lie wholly in the month."""
    found = con.sql(step("1_records/_prepare_porto_week"), params={"month": month}).fetchall()
    if not found:
        raise IngestError(f"no trip begins in a whole week of {month:%Y-%m}: choose the busy taxis by month")
    week: dt.date = found[0][0]
    return week


RECIPES = {
    "porto-3x3": Porto(Grid((4699.0, -716.0), cells=3), published=Size(197, 9, 4321)),
    "porto-7x7": Porto(Grid((4694.5, -718.5), cells=7), published=Size(197, 49, 4321)),
}
