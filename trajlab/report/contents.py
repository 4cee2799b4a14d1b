"""What every part of the page needs to know of the lab: its releases and what to call them."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from trajlab.errors import LabError
from trajlab.query import catalogue
from trajlab.report import listing, words
from trajlab.report.evidence import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trajlab.lab import Lab
    from trajlab.report.drawing.backdrop import Backdrop
    from trajlab.report.ground import Shapes
    from trajlab.report.markup import Html

RELEASES = """\
from report.release_overview where release_id not in (select release_id from report.cube_release)
order by index_name, slot_minutes, fill, min_count, release_id"""
OUTLINES = "select polygon, mean_people, lon0, lat0 from report.people_by_cell where release_id = $release_id"
ZONES = """\
select origin_polygon as polygon from report.flow_map union select destination_polygon from report.flow_map
order by polygon"""
PLACES = """\
select place as name, lng, lat, 0 as population from records.place
where lng is not null and lat is not null and place is not null order by place limit $most"""
MOST_MAPPED, MOST_PLACES = 12, 2_000
"""Releases that the maps of a page make room for, and named places of the lab that cells may lie near."""


@dataclass(frozen=True)
class Published:
    """One release, by the row that sums it up."""

    row: dict[str, Any]
    name: str
    """Kind of cells, and whatever else tells it from the other releases on the page."""

    @property
    def id(self) -> str:
        return str(self.row["release_id"])

    @property
    def own(self) -> bool:
        """Whether the lab made it, and so knows the truth behind it; else somebody else published it."""
        return self.row["left_out"] is not None

    @property
    def days(self) -> int:
        return -(-int(self.row["slots"]) // int(self.row["slots_per_day"]))

    @property
    def period(self) -> tuple[dt.date, dt.date] | None:
        """First and last day; None for a table that tells no dates."""
        if not listing.dated(self.row):
            return None
        first = self.row["starts"].date()
        return first, first + dt.timedelta(days=self.days - 1)


@dataclass(frozen=True)
class Contents:
    lab: Lab
    summary: Answer
    releases: tuple[Published, ...]
    missing: frozenset[str]
    """Relations that the lab lacks, since an older trajlab made it."""
    of_groups: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Ids of releases that are groups of a cube, and of what was asked of them: rows with such an id are left out.

    A group may be one person, and its counts that person's trace: sections/cubes.py tells of groups large enough.
    """
    examples: int = 0
    """People whose days may be drawn: none, unless whoever writes the page says that they may be."""
    backdrop_file: Path | None = None
    """A GeoJSON file to draw behind the cells of maps, in place of land and water."""

    @classmethod
    def of(cls, lab: Lab, *, examples: int = 0, backdrop_file: Path | None = None) -> Contents:
        missing = _missing(lab)
        if {"report.release_overview", "report.cube_release"} & missing:
            raise LabError("an older trajlab made this lab: open it once for writing, and it is brought up to date")
        summary = Answer.load(lab, RELEASES)
        rows = list(summary.frame.iter_rows(named=True))
        releases = tuple(Published(row, name) for row, name in zip(rows, _names(rows), strict=True))
        return cls(lab, summary, releases, missing, _of_groups(lab), examples, backdrop_file)

    def only(self, release: Published) -> Contents:
        """The same lab as if it had this one release."""
        frame = self.summary.frame.filter(pl.col("release_id") == release.id)
        return replace(self, summary=replace(self.summary, frame=frame), releases=(release,))

    @cached_property
    def backdrop(self) -> Backdrop | None:
        """What lies behind the cells, for all maps of the page; None where no cell has a place."""
        from trajlab.report.drawing.backdrop import Backdrop
        from trajlab.report.drawing.extent import Extent
        from trajlab.report.ground import NAMES
        from trajlab.spatial._projection import LocalMetres

        frames = [self.load_answer(OUTLINES, release_id=release.id).frame for release in self.releases[:MOST_MAPPED]]
        frames = [frame for frame in frames if len(frame)]
        centres = [frame.select("lon0", "lat0").row(0) for frame in frames if frame["lon0"][0] is not None]
        zones = self.load_answer(ZONES).frame
        outlines = [parse_outlines(frame["polygon"]) for frame in [*frames, zones] if len(frame)]
        if not outlines:
            return None
        weights = [(frame["mean_people"] / (frame["mean_people"].sum() or 1)).to_numpy() for frame in frames]
        weights += [np.full(len(zones), 1 / len(zones))] if len(zones) else []
        plane = LocalMetres(*(centres[0] if centres else (0.0, 0.0)))
        extent = Extent.around(np.concatenate(outlines), np.concatenate(weights), plane)
        if extent is None:
            return None
        places = self.load_answer(PLACES, most=MOST_PLACES).frame
        own = places.cast(NAMES) if len(places) else None
        return Backdrop.of(extent, file=self.backdrop_file, own_places=own)

    @property
    def ground(self) -> Html | None:
        """What the maps of the page have in common, drawn."""
        return self.backdrop.drawing if self.backdrop is not None else None

    @cached_property
    def sources(self) -> Answer:
        return self.load_answer("from report.input_by_kind order by kind, tz")

    def load_answer(self, sql: str, **params: str | int | float) -> Answer:
        """The rows that a few lines over the lab's relations give; none where the lab lacks a relation.

        That is so where an older trajlab made the lab, and it is open for reading only.
        """
        if self.missing.intersection(re.findall(r"\b[a-z]+\.[a-z_0-9]+\b", sql)):
            return Answer(sql.strip(), params, pl.DataFrame())
        answer = Answer.load(self.lab, sql, **params)
        for column, ids in self.of_groups.items():
            if ids and column in answer.frame.columns:
                kept = pl.col(column).is_null() | ~pl.col(column).is_in(list(ids))
                answer = replace(answer, frame=answer.frame.filter(kept))
        return answer

    def name_of(self, release_id: str) -> str:
        return next((release.name for release in self.releases if release.id == release_id), release_id)


def parse_outlines(polygons: pl.Series) -> Shapes:
    """Outlines in degrees from well-known text; None where there is none."""
    import shapely

    return np.asarray(shapely.from_wkt(polygons.to_numpy()), dtype=object)


def _of_groups(lab: Lab) -> dict[str, frozenset[str]]:
    """By the column that has them: ids of releases of groups, and of runs, questions and traces of these."""
    found = {"release_id": frozenset(lab.sql("select release_id from report.cube_release")["release_id"])}
    if not found["release_id"]:
        return {}
    for column, table in (("run_id", "study.run"), ("risk_id", "study.risk"), ("traces_id", "study.traces")):
        ids = lab.sql(f"select {column} from {table} where release_id in (select release_id from report.cube_release)")  # noqa: S608
        found[column] = frozenset(ids[column])
    return found


def _missing(lab: Lab) -> frozenset[str]:
    """Relations of this trajlab that are not in the lab, and views of such."""
    found = lab.sql(
        "select table_schema || '.' || table_name as name from information_schema.tables "
        "union all select schema_name || '.' || function_name from duckdb_functions() where not internal"
    )
    missing = set(catalogue()).difference(found["name"])
    for query in catalogue().values():  # what a view reads stands before it
        if query.view and missing.intersection(query.reads):
            missing.add(query.table)
    return frozenset(missing)


def _names(rows: list[dict[str, Any]]) -> list[str]:
    """The kind of cells, then only those settings in which the releases differ, then the id."""
    differing = listing.differences(rows, besides=("index_name",))
    names = [" · ".join([words.cells(row["index_name"]), *more]) for row, more in zip(rows, differing, strict=True)]
    return [
        f"{name} ({row['release_id']})" if names.count(name) > 1 else name
        for name, row in zip(names, rows, strict=True)
    ]
