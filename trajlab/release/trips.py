"""Trips that somebody published: origin, destination and hour, divided by attributes such as age and residence.

Such a table is a product by itself: nobody behind it is known here, a trip is not a person, and its numbers are
mostly sums of weights, so that 3.2 trips may be one phone. `Trips.release` is the table as a `Release`,
`Trips.small` how fine the attributes cut. Spain's ministry of transport writes such tables every day (`kind="mitma"`,
version 2, from 2022 on): pipes between columns, packed, with hours from 0 to 23.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from trajlab.errors import ReleaseError, UnknownNameError
from trajlab.ids import digest
from trajlab.release.matrix import read_coordinates, read_frame

if TYPE_CHECKING:
    from trajlab.release import Release

HOURS = 24
MITMA = {"date": "fecha", "hour": "periodo", "origin": "origen", "destination": "destino", "trips": "viajes"}
MITMA_ATTRIBUTES = ("distancia", "actividad_origen", "actividad_destino", "residencia", "renta", "edad", "sexo")
NEEDED = ("date", "hour", "origin", "destination", "trips")
WARNING = (
    "these are trips, not people: whoever moves twice counts twice, whoever stays is not there; attacks that follow "
    "people from slot to slot find at most what such a table would give away if every trip were a person"
)


@dataclass(frozen=True)
class Trips:
    """One row per published number: `slot` (hours from `start`), `origin`, `destination`, `trips`, the attributes."""

    table: pl.DataFrame
    cells: pl.DataFrame
    start: dt.datetime
    slots: int
    attributes: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def release(self, **group: str) -> Release:
        """Trips by hour, of everybody or of one group (`edad="25-45"`): counts by origin, flows from end to end.

        Sums are rounded to whole trips, halves to the even one, and what rounds to nothing is left out.
        """
        from trajlab.release import Release

        chosen = self._of_group(group)
        counts = _whole(chosen, ["slot", "origin"]).rename({"origin": "cell"})
        flows = _whole(chosen, ["slot", "origin", "destination"])
        if counts.is_empty():
            raise ReleaseError("no hour and origin has half a trip or more: there is nothing to release")
        before, after = float(chosen["trips"].sum()), int(flows["people"].sum())
        note = f"{before:,.1f} trips are {after:,} once those from one cell to another in one hour are whole numbers"
        return Release(
            id="trips-" + digest(counts.write_csv(), flows.write_csv(), self.cells.write_csv(), self.start),
            counts=counts,
            cells=self.cells,
            slots=self.slots,
            slots_per_day=HOURS,
            start=self.start,
            index="trips",
            flows=flows,
            notes=(*self.notes, note, WARNING),
        )

    def small(self, least: float) -> pl.DataFrame:
        """How many published numbers are below `least`, as the table is divided further and further.

        One row for the table without attributes (`nothing`), one for each attribute alone, one for all together:
        `numbers`, how many of them are `small`, the `share` of these, and the `share_of_trips` in them.
        """
        sets = [(), *((name,) for name in self.attributes), *([self.attributes] if len(self.attributes) > 1 else [])]
        return pl.concat(self._small(divided, least) for divided in sets)

    def _small(self, divided: tuple[str, ...], least: float) -> pl.DataFrame:
        sums = self.table.group_by("slot", "origin", "destination", *divided).agg(pl.col("trips").sort().sum())
        below = pl.col("trips") < least
        return sums.select(
            divided_by=pl.lit(" ".join(divided) or "nothing"),
            numbers=pl.len(),
            small=below.sum(),
            share=below.mean(),
            share_of_trips=pl.col("trips").filter(below).sort().sum() / pl.col("trips").sort().sum(),
        )

    def _of_group(self, group: Mapping[str, str]) -> pl.DataFrame:
        chosen = self.table
        for name, value in group.items():
            if name not in self.attributes:
                raise UnknownNameError("attribute", name, self.attributes)
            known = self.table[name].unique().drop_nulls().to_list()
            if value not in known:
                raise UnknownNameError(name, value, known)
            chosen = chosen.filter(pl.col(name) == value)
        return chosen


def read_trips(
    source: Any,
    xy: Any,
    *,
    kind: str | None = None,
    columns: Mapping[str, str] | None = None,
    attributes: Sequence[str] | None = None,
    unit: str | None = None,
) -> Trips:
    """Read trips that somebody published: files or a frame, and where their zones are (`cell, x, y` in metres).

    `kind="mitma"` are Spain's tables, one or several files. Otherwise `columns` says which column is date, hour,
    origin, destination and trips, where they are not called so, and `attributes` which ones divide the trips. Trips
    from or to a zone without coordinates (abroad) are left out, and a note says how many.
    """
    if kind not in (None, "mitma"):
        raise UnknownNameError("kind of trips", str(kind), ["mitma"])
    if kind == "mitma" and columns:
        raise ReleaseError("kind 'mitma' has a fixed layout: columns= means nothing there")
    names = MITMA if kind == "mitma" else {name: (columns or {}).get(name, name) for name in NEEDED}
    if strange := sorted(set(columns or {}) - set(NEEDED)):
        raise ReleaseError(f"columns= knows {', '.join(NEEDED)}, not {strange[0]!r}")
    divided = tuple(MITMA_ATTRIBUTES if attributes is None and kind == "mitma" else attributes or ())
    frames = [_read(item, kind) for item in (source if isinstance(source, list | tuple) else [source])]
    if not frames:
        raise ReleaseError("no file to read trips from")
    table = pl.concat([_chosen(frame, names, divided) for frame in frames])
    return _placed(table, xy, divided, unit)


def _read(item: Any, kind: str | None) -> pl.DataFrame:
    if kind == "mitma" and isinstance(item, str | os.PathLike):
        path = Path(item)
        if not path.exists():
            raise ReleaseError(f"{path.name}: no such file")
        try:
            return pl.read_csv(path, separator="|", infer_schema=False)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise ReleaseError(f"{path.name} cannot be read as a table of trips") from error
    frame = read_frame(item)
    if frame is None:
        raise ReleaseError(f"trips are read from files and frames, not from {type(item).__name__}")
    return frame


def _chosen(frame: pl.DataFrame, names: Mapping[str, str], divided: Sequence[str]) -> pl.DataFrame:
    wanted = {**names, **{name: name for name in divided}}
    if missing := [column for column in wanted.values() if column not in frame.columns]:
        raise ReleaseError(f"no column {missing[0]!r} in the trips; there are {', '.join(frame.columns)}")
    text = frame.select(pl.col(column).cast(pl.String).str.strip_chars().alias(name) for name, column in wanted.items())
    read = text.with_columns(
        date=pl.col("date").str.replace_all("-", "").str.to_date("%Y%m%d", strict=False),
        hour=pl.col("hour").cast(pl.Int32, strict=False),
        trips=pl.col("trips").cast(pl.Float64, strict=False),
    )
    bad = read.filter(~_sound())
    if len(bad):
        raise ReleaseError(
            f"{len(bad):,} of {len(read):,} rows have no date (20240304), no hour from 0 to 23, no zone or no number "
            "of trips from 0 on: take them out first"
        )
    return read.with_columns(pl.col(divided).fill_null("unknown"))


def _sound() -> pl.Expr:
    named = pl.all_horizontal(pl.col("origin", "destination").is_not_null())
    number = pl.col("trips").is_finite() & (pl.col("trips") >= 0)
    return (pl.col("date").is_not_null() & pl.col("hour").is_between(0, 23) & named & number).fill_null(value=False)


def _placed(table: pl.DataFrame, xy: Any, divided: tuple[str, ...], unit: str | None) -> Trips:
    places = read_frame(xy)
    if places is None or "cell" not in places.columns:
        raise ReleaseError("the zones need a table of cell, x and y")
    known = places["cell"].cast(pl.String)
    if twice := known.filter(known.is_duplicated()).unique().sort().to_list():
        raise ReleaseError(f"{len(twice):,} zones have more than one row of coordinates, such as {twice[:3]}")
    inside = table.filter(pl.col("origin").is_in(known.implode()) & pl.col("destination").is_in(known.implode()))
    if inside.is_empty():
        raise ReleaseError("no trip goes from a zone with coordinates to another: do both tables name zones alike?")
    ends = sorted(set(inside["origin"]) | set(inside["destination"]))
    where = read_coordinates(places, ends, unit)
    number = pl.DataFrame({"name": ends, "cell": np.arange(len(ends), dtype=np.uint64)})
    first = inside["date"].min()
    last = inside["date"].max()
    assert isinstance(first, dt.date)
    assert isinstance(last, dt.date)
    hours = ((pl.col("date") - first).dt.total_days() * HOURS + pl.col("hour")).cast(pl.Int32)
    numbered = (
        inside.with_columns(slot=hours)
        .join(number.rename({"name": "origin", "cell": "from"}), on="origin")
        .join(number.rename({"name": "destination", "cell": "to"}), on="destination")
        .select("slot", pl.col("from").alias("origin"), pl.col("to").alias("destination"), "trips", *divided)
        .sort("slot", "origin", "destination", *divided, "trips")
    )
    left_out = float(table["trips"].sum()) - float(inside["trips"].sum())
    note = f"{left_out:,.1f} trips from or to {_elsewhere(table, known):,} zones without coordinates were left out"
    return Trips(
        table=numbered,
        cells=pl.DataFrame({"cell": number["cell"], "label": ends, "x": where[:, 0], "y": where[:, 1]}),
        start=dt.datetime.combine(first, dt.time()),
        slots=((last - first).days + 1) * HOURS,
        attributes=divided,
        notes=(note,) if len(inside) < len(table) else (),
    )


def _elsewhere(table: pl.DataFrame, known: pl.Series) -> int:
    return len((set(table["origin"]) | set(table["destination"])) - set(known))


def _whole(table: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Sums in whole trips, in the order of their keys; the sum runs over sorted values, so that rows may be mixed."""
    return (
        table.group_by(keys)
        .agg(people=pl.col("trips").sort().sum().round(mode="half_to_even").cast(pl.Int64))
        .filter(pl.col("people") > 0)
        .sort(keys)
    )
