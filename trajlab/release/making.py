"""From records to a published table: settings in, a release out.

The road is `grid.fix` (which cell), `slots.observed` (which slot), `slots.person` (who),
`slots.position` (gaps filled), `counts.*` (what is published). A release is named by a
digest of its settings and of the records, so the same request is built once.
"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from trajlab.errors import ReleaseError, SlotError, UnknownNameError
from trajlab.ids import digest
from trajlab.protect import COUNTS, load_recipe, name_of
from trajlab.query import Query, catalogue
from trajlab.release import Release, groups, notes, protected, slots
from trajlab.release.box import Box
from trajlab.release.grid import add_cells, grid, is_coarser, records_fingerprint
from trajlab.settings import LARGEST, whole_number
from trajlab.version import versions

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.spatial import SpatialIndex
    from trajlab.store import Store

OUTSIDE = ("drop", "clamp")
LARGEST_SEED = 2**63 - 1
"""Noise is only as secret as the seed that it is drawn from."""
LONGEST = 36_600
"""Days of a release: a hundred years, so that slots stay countable."""


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
    outside: str = "drop"
    group: tuple[str, str] | None = None
    protect: tuple[str, ...] = ()
    population: str | None = None

    def __post_init__(self) -> None:
        recipe = load_recipe(self.protect)
        object.__setattr__(self, "protect", tuple(name_of(protection) for protection in recipe))
        for name in ("min_count", "people", "days", "seed"):
            if (value := getattr(self, name)) is not None:
                most = LARGEST_SEED if name == "seed" else LARGEST
                object.__setattr__(self, name, whole_number(name, value, most=most, error=ReleaseError))
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
        if self.days is not None and not 1 <= self.days <= LONGEST:
            raise ReleaseError(f"days must be at least 1 and at most {LONGEST}, not {self.days}")
        if self.align and self.days is None:
            raise ReleaseError("align=True needs days=...: the length of the common period")
        if self.box is not None:
            object.__setattr__(self, "box", _checked_box(self.box))
        if self.population is not None and (self.people is not None or self.coverage):
            raise ReleaseError("a population says who is in the release: leave out people and coverage")
        if self.group is not None:
            object.__setattr__(self, "group", _checked_group(self.group))
            groups.refuse_noise(self.group[0], recipe)
        if self.min_count > 1 and any(protection.protects == COUNTS for protection in recipe):
            raise ReleaseError(
                f"min_count={self.min_count} leaves out counts before they are protected: put "
                f"suppress:{self.min_count} into protect instead, in its place"
            )


@dataclass(frozen=True, slots=True)
class _Plan:
    """A release about to be built: what was asked, and what that means for these records."""

    settings: Settings
    index_id: int
    index: SpatialIndex
    recorded: slots.Calendar
    period: slots.Calendar
    fingerprint: str
    grouping: groups.Grouping | None = None

    @property
    def all_settings(self) -> dict[str, object]:
        """The settings with nothing left to a default that depends on the records."""
        found = {"index": self.index.name, "tz": self.period.tz, "start": str(self.period.start)}
        absent = {"protect", *(name for name in ("group", "population") if getattr(self.settings, name) is None)}
        given = {name: value for name, value in asdict(self.settings).items() if name not in absent}
        return given | found | {"days": self.period.days}

    @property
    def release_id(self) -> str:
        of_group = () if self.grouping is None else (self.grouping.id,)
        return "r" + digest(self.index_id, sorted(self.all_settings.items()), self.fingerprint, *of_group)

    @property
    def params(self) -> dict[str, object]:
        """Every value that a SQL file on the way to a release may ask for."""
        return {
            "release_id": self.release_id,
            "index_id": self.index_id,
            "slots_per_day": self.period.slots_per_day,
            "slots": self.period.slots,
            "days": self.period.days,
            "last_week": (self.recorded.days - 1) // 7 if self.settings.align else 0,
            "coverage": self.settings.coverage,
            "people": self.settings.people if self.grouping is None else None,  # a group is of those drawn already
            "grouping_id": None if self.grouping is None else self.grouping.id,
            "group_value": None if self.settings.group is None else self.settings.group[1],
            "population_id": self.settings.population,
            "seed": str(self.settings.seed),
            "fill": self.settings.fill,
            "min_count": self.settings.min_count,
        }


def make_release(store: Store, settings: Settings, progress: Progress) -> Release:
    """Build the release that the settings describe, unless the lab has it already.

    A group is found among the people of the release of everybody, which is built and kept too.
    """
    recipe = load_recipe(settings.protect)
    settings = unprotected_settings(store, settings)
    everybody = None
    if settings.group is not None:
        groups.refuse_unknown_attribute(store, settings.group[0])
        everybody = make_release(store, replace(settings, group=None, min_count=1), progress)
    with store.transaction(f"release with index {settings.index}"):
        recorded, period = _calendars(store, settings)
        index_id, index = grid(store, settings.index, box=settings.box, outside=settings.outside, progress=progress)
        grouping = None if everybody is None else _grouping(store, everybody.id, settings)
        plan = _Plan(settings, index_id, index, recorded, period, records_fingerprint(store), grouping)
        if not store.rows("select 1 from counts.release where release_id = $id", id=plan.release_id):
            _build(store, plan, progress)
        elif settings.tz is not None:
            notes.zone_was_meant(store, plan.release_id)
        release_id = plan.release_id
        if any(protection.protects == COUNTS for protection in recipe):
            release_id = protected.publish(store, release_id, recipe, settings.seed, progress)
    return load_release(store, release_id)


def unprotected_settings(store: Store, settings: Settings) -> Settings:
    """The settings of the release underneath: cells and slots as the recipe makes them, counts not protected yet."""
    recipe = load_recipe(settings.protect)
    made: Settings = protected.rewrite(settings, recipe, partial(is_coarser, store, settings.box))
    return replace(made, protect=())


def covered_people(store: Store, settings: Settings, progress: Progress) -> pl.DataFrame:
    """Who would be in a release, before any sample is drawn: `person`, and `week`, where the person's days begin.

    Cells of the records are found and kept, as for the release itself; nothing else is left in the lab.
    """
    settings = replace(unprotected_settings(store, settings), people=None)
    with store.transaction(f"who is covered by index {settings.index}"), progress.step("who is covered"):
        recorded, period = _calendars(store, settings)
        index_id, index = grid(store, settings.index, box=settings.box, outside=settings.outside, progress=progress)
        plan = _Plan(settings, index_id, index, recorded, period, records_fingerprint(store))
        there = store.rows("select 1 from counts.release where release_id = $id", id=plan.release_id)
        if not there:
            params = plan.params | {"tick_seconds": slots.write_clock(store, plan.release_id, plan.recorded)}
            for table in _COVERAGE:
                store.build(Query.load(table), **params)
        people = store.frame(
            "select person, (first_slot // (7 * $slots_per_day))::integer as week from slots.person "
            "where release_id = $id and kept order by person",
            id=plan.release_id,
            slots_per_day=period.slots_per_day,
        )
        for table in () if there else ("slots.clock", *_COVERAGE):
            store.clear(Query.load(table), release_id=plan.release_id)
        return people


_COVERAGE = ("slots.observed", "slots.person")
"""What says who is covered."""


def _grouping(store: Store, release_id: str, settings: Settings) -> groups.Grouping | None:
    if settings.group is None:
        return None
    attribute, value = settings.group
    grouping = groups.divide(store, release_id, attribute)
    groups.refuse_unknown_group(store, grouping, value)
    return grouping


def load_release(store: Store, release_id: str) -> Release:
    """What the lab published under this id, and nothing else."""
    found = store.rows(
        "select index_id, index_name, starts, tz, slots_per_day, slots, min_count, recipe, total_low, total_high "
        "from counts.release where release_id = $id",
        id=release_id,
    )
    if not found:
        known = [name for (name,) in store.rows("select release_id from counts.release")]
        raise UnknownNameError("release", release_id, known)
    index_id, index_name, starts, tz, slots_per_day, n_slots, min_count, recipe, fewest, most = found[0]
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
        notes=notes.of(store, release_id),
        recipe=tuple(recipe.split()),
        total=None if fewest is None else (fewest, most),
    )  # fmt: skip


def _build(store: Store, plan: _Plan, progress: Progress) -> None:
    """Every table that a release id leads to, in the order in which they read each other."""
    params = plan.params | {"tick_seconds": slots.write_clock(store, plan.release_id, plan.recorded)}
    slots.write_calendar(store, plan.release_id, plan.period)
    for query in catalogue().values():
        if not query.select or "release_id" not in query.scope or query.table.startswith("metrics."):
            continue  # metrics, and traces to search, are built when somebody asks for them
        if query.table == "slots.position":
            _refuse_if_nobody(store, plan)
            _describe(store, plan)
            _interpolate(store, plan, progress)
        with progress.step(query.table, poll=store.engine.percent_done):
            store.build(query, **params)
    notes.write(store, plan.release_id, zone_given=plan.settings.tz is not None)


def _interpolate(store: Store, plan: _Plan, progress: Progress) -> None:
    if plan.settings.fill != "linear":
        return
    interpolate = partial(
        slots.interpolate,
        release_id=plan.release_id, index_id=plan.index_id, index=plan.index, calendar=plan.period,
    )  # fmt: skip
    with progress.step("interpolate"):
        store.by_person("slots.interpolated", interpolate, progress, release_id=plan.release_id)
    cells = "select distinct cell from slots.interpolated where release_id = $id order by cell"
    new = store.totals(cells, "", id=plan.release_id)
    add_cells(store, plan.index, plan.index_id, np.array(new, dtype=np.uint64).ravel())


def _calendars(store: Store, settings: Settings) -> tuple[slots.Calendar, slots.Calendar]:
    """The period that is recorded, and the period of the release; they differ with alignment."""
    tz = settings.tz or _zone_of_the_records(store)
    slots.zone(tz)
    first, last = store.totals(
        "select timezone($tz, min(ts))::date as first, timezone($tz, max(ts))::date as last from records.fix",
        "min(first), max(last)",
        tz=tz,
    )[0]
    if first is None:
        raise ReleaseError("the lab holds no records: ingest some first (lab.ingest, trajlab ingest)")
    start = _date(settings.start) if settings.start is not None else first
    if not 1970 <= start.year <= 2100:
        raise SlotError(f"start {start} is not between 1970 and 2100")
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
    zones = notes.zones(store)
    if len(zones) > 1:
        raise SlotError(f"the records were ingested in {len(zones)} zones ({', '.join(zones)}): say which with tz=...")
    return zones[0] if zones else "UTC"


def _refuse_if_nobody(store: Store, plan: _Plan) -> None:
    kept, best = store.totals(
        "select count(*) filter (kept) as kept, max(coverage) as best from slots.person where release_id = $id",
        "sum(kept), max(best)",
        id=plan.release_id,
    )[0]
    if best is None:
        raise ReleaseError("nobody has a record in this period and study box: check start, days, tz and box")
    _refuse_others(store, plan, kept)
    if not kept:
        raise ReleaseError(
            f"nobody has records in at least {plan.settings.coverage:.0%} of the slots; the best covered person has "
            f"{best:.1%}: lower coverage, or use longer slots"
        )
    if plan.grouping is None and plan.settings.people is not None and kept < plan.settings.people:
        raise ReleaseError(
            f"people={plan.settings.people:,} were asked for, and only {kept:,} are covered in this period, study box "
            "and slot: ask for fewer, or lower coverage"
        )


def _refuse_others(store: Store, plan: _Plan, kept: int) -> None:
    """Refuse a release that would not hold everybody of its population."""
    population = plan.settings.population
    if population is None or plan.grouping is not None:
        return
    found = store.rows("select people from study.population where population_id = $id", id=population)
    if not found:
        known = [name for (name,) in store.rows("select population_id from study.population where pinned")]
        raise UnknownNameError("population", population, known)
    ((people,),) = found
    if kept != people:
        raise ReleaseError(
            f"population {population} has {people:,} people, and {kept:,} of them have a record in these cells and "
            "this period: it was pinned for other releases"
        )


def _describe(store: Store, plan: _Plan) -> None:
    in_release = "select count(*) filter (kept) as people from slots.person where release_id = $id"
    kept = store.totals(in_release, "sum(people)", id=plan.release_id)
    recorded = store.totals("select count(distinct person) as people from records.fix", "sum(people)")
    beyond = store.rows("select beyond from study.gridding where index_id = $id", id=plan.index_id)
    newest = store.rows("select max(source_id) from records.source")
    of_index = "select count(*) as records from grid.fix where index_id = $id"
    gridded = store.totals(of_index, "sum(records)", id=plan.index_id)
    published = {
        "release_id": plan.release_id,
        "index_id": plan.index_id,
        "index_name": plan.index.name,
        "starts": dt.datetime.combine(plan.period.start, dt.time()),
        "tz": plan.period.tz,
        "slot_seconds": plan.period.seconds,
        "slots_per_day": plan.period.slots_per_day,
        "slots": plan.period.slots,
        "fill": plan.settings.fill,
        "min_count": plan.settings.min_count,
        "recipe": "",
        "total_low": None,
        "total_high": None,
    }
    made = {
        "release_id": plan.release_id,
        "unprotected_id": plan.release_id,
        "claim": None,
        "clipped_share": None,
        "settings": json.dumps(plan.all_settings, sort_keys=True),
        "fingerprint": plan.fingerprint,
        "last_source": newest[0][0],
        "people": kept[0][0],
        "left_out": recorded[0][0] - kept[0][0],
        "records": gridded[0][0],
        "outside": beyond[0][0],
        "versions": versions("duckdb", "polars"),
    }
    store.insert("counts.release", pl.DataFrame([published]))
    store.insert("study.release", pl.DataFrame([made]))


def _date(text: str) -> dt.date:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        raise SlotError(f"start {text!r} is not a date like '2013-04-01'") from None


def _checked_box(box: Box) -> Box:
    if len(box) == 4 and 0 < box[2] + 360 - box[0] <= 180:
        box = (box[0], box[1], box[2] + 360, box[3])  # across the antimeridian
    if len(box) != 4 or not (-180 <= box[0] < box[2] <= max(180, box[0] + 180) and -90 <= box[1] < box[3] <= 90):
        raise ReleaseError(
            f"box must be (west, south, east, north) in degrees, west < east and south < north: {box}; "
            "west > east only across the antimeridian, at most 180 degrees wide"
        )
    return box


def _checked_group(group: object) -> tuple[str, str]:
    if isinstance(group, tuple | list) and len(group) == 2 and all(isinstance(part, str) and part for part in group):
        return group[0], group[1]
    raise ReleaseError(
        f"group is what people are divided by and one value, such as ('home:zones', 'north'), not {group!r}"
    )
