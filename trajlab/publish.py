"""From records to a published table: settings in, a release out.

The road is `grid.fix` (which cell), `slots.observed` (which slot), `slots.person` (who),
`slots.position` (gaps filled), `counts.*` (what is published). A release is named by a
digest of its settings and of the records, so the same request is built once.
"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import polars as pl

from trajlab import slots
from trajlab.errors import ReleaseError, SlotError, UnknownNameError
from trajlab.grid import Box, add_cells, grid, records_fingerprint
from trajlab.query import Query
from trajlab.release import Release, digest

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.spatial import SpatialIndex
    from trajlab.store import Store

OUTSIDE = ("clamp", "drop")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that decides what a release holds, checked once."""

    index: str
    slot: int
    fill: str = "static"
    tz: str | None = None
    start: str | None = None
    days: int | None = None
    align: bool = False
    coverage: float = 0.0
    min_count: int = 1
    people: int | None = None
    seed: int = 0
    box: Box | None = None
    outside: str = "clamp"

    def __post_init__(self) -> None:
        if self.fill not in slots.FILLS:
            raise UnknownNameError("fill", self.fill, slots.FILLS)
        if self.outside not in OUTSIDE:
            raise UnknownNameError("rule for points outside the study box", self.outside, OUTSIDE)
        if not 0 <= self.coverage <= 1:
            raise ReleaseError(f"coverage is a share of slots between 0 and 1, not {self.coverage}")
        if self.min_count < 1:
            raise ReleaseError(f"min_count must be at least 1, not {self.min_count}")
        if self.people is not None and self.people < 1:
            raise ReleaseError(f"people must be at least 1, not {self.people}")
        if self.days is not None and self.days < 1:
            raise ReleaseError(f"days must be at least 1, not {self.days}")
        if self.align and self.days is None:
            raise ReleaseError("align=True needs days=...: the length of the common period")
        if self.box is not None:
            _check_box(self.box)


def publish(store: Store, settings: Settings, progress: Progress) -> Release:
    """Build the release that the settings describe, unless the lab has it already."""
    with store.transaction(f"release with index {settings.index}"):
        index_id, index = grid(store, settings.index, box=settings.box, outside=settings.outside, progress=progress)
        recorded, period = _calendars(store, settings)
        fingerprint = records_fingerprint(store)
        told = asdict(settings) | {
            "index": index.name,
            "tz": period.tz,
            "start": str(period.start),
            "days": period.days,
        }
        release_id = "r" + digest(index_id, sorted(told.items()), fingerprint)
        if not store.rows("select 1 from counts.release where release_id = $id", id=release_id):
            _build(store, settings, release_id, index_id, index, recorded, period, progress)
            _describe(store, release_id, index_id, index, settings, period, told, fingerprint)
            store.build(Query.load("report.summary"), release_id=release_id)
    return load(store, release_id)


def load(store: Store, release_id: str) -> Release:
    """What the lab published under this id, and nothing else."""
    found = store.rows(
        "select index_id, index_name, starts, tz, slots_per_day, slots, min_count "
        "from counts.release where release_id = $id",
        id=release_id,
    )
    if not found:
        known = [name for (name,) in store.rows("select release_id from counts.release")]
        raise UnknownNameError("release", release_id, known)
    index_id, index_name, starts, tz, slots_per_day, n_slots, min_count = found[0]
    return Release(
        id=release_id,
        counts=store.frame(
            "select slot, cell, people from counts.occupancy where release_id = $id order by slot, cell", id=release_id
        ),
        cells=store.frame(
            "select cell, label, x, y, lng, lat, area_km2 from grid.cell where index_id = $index and cell in "
            "(select cell from counts.occupancy where release_id = $id) order by cell",
            index=index_id, id=release_id,
        ),
        slots=n_slots,
        slots_per_day=slots_per_day,
        start=starts,
        index=index_name,
        tz=tz,
        min_count=min_count,
        flows=store.frame(
            "select slot, origin, destination, people from counts.flow where release_id = $id order by all",
            id=release_id,
        ),
    )  # fmt: skip


def _build(
    store: Store,
    settings: Settings,
    release_id: str,
    index_id: int,
    index: SpatialIndex,
    recorded: slots.Calendar,
    period: slots.Calendar,
    progress: Progress,
) -> None:
    params = {
        "release_id": release_id,
        "index_id": index_id,
        "tick_seconds": slots.write_clock(store, release_id, recorded),
        "slots_per_day": period.slots_per_day,
        "slots": period.slots,
        "days": period.days,
        "last_week": (recorded.days - period.days) // 7 if settings.align else 0,
        "coverage": settings.coverage,
        "people": settings.people,
        "seed": str(settings.seed),
        "fill": settings.fill,
        "min_count": settings.min_count,
    }
    slots.write_calendar(store, release_id, period)
    store.clear(Query.load("slots.interpolated"), release_id=release_id)
    for table in ("slots.observed", "slots.person", "slots.position", "counts.occupancy", "counts.flow"):
        if table == "slots.position":
            _refuse_if_nobody(store, release_id, settings)
            if settings.fill == "linear":
                with progress.step("interpolate"):
                    slots.interpolate(store, release_id, index_id, index, period, progress)
                new = store.frame("select distinct cell from slots.interpolated where release_id = $id", id=release_id)
                add_cells(store, index, index_id, new["cell"].to_numpy())
        with progress.step(table, poll=store.con.query_progress):
            store.build(Query.load(table), **params)


def _calendars(store: Store, settings: Settings) -> tuple[slots.Calendar, slots.Calendar]:
    """The period that is recorded, and the period of the release; they differ with alignment."""
    tz = settings.tz or _zone_of_the_records(store)
    slots.zone(tz)
    first, last = store.rows(
        "select timezone($tz, min(ts))::date, timezone($tz, max(ts))::date from records.fix", tz=tz
    )[0]
    if first is None:
        raise ReleaseError("the lab holds no records: ingest some first (lab.ingest, trajlab ingest)")
    start = _date(settings.start) if settings.start is not None else first
    if start > last:
        raise SlotError(f"start {start} is after the last record, which is on {last}")
    rest = (last - start).days + 1
    days = settings.days or rest
    if settings.align and days > rest:
        raise SlotError(f"align=True with days={days}, but the records cover only {rest} days from {start}")
    if start + dt.timedelta(days=days) <= first:
        raise SlotError(f"the period ends before the first record, which is on {first}")
    period = slots.Calendar(start, days, settings.slot, tz)
    return (slots.Calendar(start, rest, settings.slot, tz) if settings.align else period), period


def _zone_of_the_records(store: Store) -> str:
    zones = [tz for (tz,) in store.rows("select distinct tz from records.source where tz is not null order by tz")]
    if len(zones) > 1:
        raise SlotError(f"the records were ingested in {len(zones)} zones ({', '.join(zones)}): say which with tz=...")
    return str(zones[0]) if zones else "UTC"


def _refuse_if_nobody(store: Store, release_id: str, settings: Settings) -> None:
    kept, best = store.rows(
        "select count(*) filter (kept), max(coverage) from slots.person where release_id = $id", id=release_id
    )[0]
    if best is None:
        raise ReleaseError("nobody has a record in this period: check start, days and tz")
    if not kept:
        raise ReleaseError(
            f"nobody has records in at least {settings.coverage:.0%} of the slots; the best covered person has "
            f"{best:.1%}: lower coverage, or use longer slots"
        )


def _describe(
    store: Store,
    release_id: str,
    index_id: int,
    index: SpatialIndex,
    settings: Settings,
    period: slots.Calendar,
    told: dict[str, object],
    fingerprint: str,
) -> None:
    import duckdb

    from trajlab import __version__

    versions = {"trajlab": __version__, "duckdb": duckdb.__version__, "polars": pl.__version__}
    kept, left_out = store.rows(
        "select count(*) filter (kept), count(*) filter (not kept) from slots.person where release_id = $id",
        id=release_id,
    )[0]
    beyond = store.rows("select beyond from grid.index where index_id = $id", id=index_id)[0][0]
    records = store.rows("select count(*) from grid.fix where index_id = $id", id=index_id)[0][0]
    store.insert(
        "counts.release",
        pl.DataFrame(
            {
                "release_id": [release_id],
                "index_id": [index_id],
                "index_name": [index.name],
                "starts": [dt.datetime.combine(period.start, dt.time())],
                "tz": [period.tz],
                "slot_seconds": [period.seconds],
                "slots_per_day": [period.slots_per_day],
                "slots": [period.slots],
                "fill": [settings.fill],
                "min_count": [settings.min_count],
            }
        ),
    )
    store.insert(
        "study.release",
        pl.DataFrame(
            {
                "release_id": [release_id],
                "settings": [json.dumps(told, sort_keys=True)],
                "fingerprint": [fingerprint],
                "people": [kept],
                "left_out": [left_out],
                "records": [records],
                "outside": [beyond],
                "versions": [json.dumps(versions, sort_keys=True)],
            }
        ),
    )


def _date(text: str) -> dt.date:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        raise SlotError(f"start {text!r} is not a date like '2013-04-01'") from None


def _check_box(box: Box) -> None:
    west, south, east, north = box
    if not (-180 <= west < east <= 180 and -90 <= south < north <= 90):
        raise ReleaseError(f"box must be (west, south, east, north) in degrees, west < east and south < north: {box}")
