"""From traces to periodic schedules: weeks, slots of a timetable, and where somebody usually is in them.

Weeks are stretches of seven days from the start of the release. Records count at their exact
times; where only slots of a release are known (observed or filled slots, protected traces,
recovered tracks) a visit counts for every slot of the timetable that its own overlaps.
"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from trajlab.errors import ScheduleError
from trajlab.ids import digest
from trajlab.query import Query, step
from trajlab.release.slots import Calendar, ticks
from trajlab.schedule.timetable import Timetable, clock

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.risk.traces import Traces
    from trajlab.store import Store

LEAST = 2
"""Weeks: a place that was visited once is no habit."""


@dataclass(frozen=True, slots=True)
class Period:
    """What a schedule needs to know of the release behind its traces."""

    release_id: str
    index_id: int
    calendar: Calendar

    @classmethod
    def of(cls, store: Store, release_id: str) -> Period:
        ((index_id, starts, tz, seconds, days),) = store.rows(
            "select index_id, starts, tz, slot_seconds, slots // slots_per_day from counts.release "
            "where release_id = $id",
            id=release_id,
        )
        return cls(release_id, index_id, Calendar(starts.date(), days, seconds, tz))

    def weekly(self, timetable: Timetable) -> pl.DataFrame:
        """Slots by number: the day counted from the first of the release, and seconds since midnight."""
        first = self.calendar.start.isoweekday()
        rows = [
            (number, (slot.weekday - first) % 7, slot.begins * 60, slot.ends * 60)
            for number, slot in enumerate(timetable.slots, start=1)
        ]
        return pl.DataFrame(rows, schema=["number", "day", "begins", "ends"], orient="row")


def write_clock(store: Store, clock_id: str, period: Period, timetable: Timetable, source: str) -> int:
    """Fill `slots.week_clock` over the period; returns the length of a tick in seconds."""
    edges = [60 * minute for slot in timetable.slots for minute in (slot.begins, slot.ends)]
    span = ticks(store, period.calendar, *edges)
    skipped = [
        day for date in timetable.holidays if 0 <= (day := (date - period.calendar.start).days) < period.calendar.days
    ]
    values: dict[str, object] = {"clock_id": clock_id, "skipped": skipped}
    if source == "records":
        values |= span | {"days": period.calendar.days}
    else:
        values |= {"release_id": period.release_id, "seconds": period.calendar.seconds}
    store.execute("delete from slots.week_clock where clock_id = $id", id=clock_id)
    rows = step("3_slots/_week_ticks" if source == "records" else "3_slots/_week_slots")
    with store.engine.frames(weekly_slot=period.weekly(timetable)):
        store.execute(f"insert into slots.week_clock by name {rows}", **values)
    return int(span["tick"])


def schedule(store: Store, traces: Traces, timetable: Timetable, progress: Progress) -> str:
    """The id of the schedules of these traces in `slots.schedule`; the same request twice is built once."""
    period = Period.of(store, traces.release_id)
    _refuse_zone(timetable, period)
    source = "records" if traces.basis == "records" and traces.protection == "none" else "visits"
    _refuse_aligned(store, period, timetable, source)
    inside = [date for date in timetable.holidays if 0 <= (date - period.calendar.start).days < period.calendar.days]
    slots = [(slot.weekday, slot.begins, slot.ends) for slot in timetable.slots]
    schedule_id = "s" + digest(traces.id, slots, [str(date) for date in inside], source)
    if store.rows("select 1 from study.schedule where schedule_id = $id", id=schedule_id):
        return schedule_id
    with store.transaction(f"schedules by {timetable.name}"):
        params = {
            "schedule_id": schedule_id,
            "release_id": traces.release_id,
            "traces_id": traces.id,
            "index_id": period.index_id,
            "tick_seconds": write_clock(store, schedule_id, period, timetable, source),
            "source": source,
        }
        _refuse_short(_held(store, schedule_id, timetable), period)
        with progress.step("slots.week", poll=store.engine.percent_done):
            store.build(Query.load("slots.week"), **params)
        _write_timetable(store, schedule_id, timetable, period)
        with progress.step("slots.schedule", poll=store.engine.percent_done):
            store.build(Query.load("slots.schedule"), **params)
        _describe(store, params, timetable, inside)
    return schedule_id


def _refuse_zone(timetable: Timetable, period: Period) -> None:
    if timetable.tz is not None and timetable.tz != period.calendar.tz:
        raise ScheduleError(
            f"{timetable.name} is in the zone {timetable.tz} and release {period.release_id} in {period.calendar.tz}: "
            f"write the timetable in the release's zone, or make a release with tz={timetable.tz!r}"
        )


def _refuse_aligned(store: Store, period: Period, timetable: Timetable, source: str) -> None:
    ((moved,),) = store.rows(
        "select count(*) from slots.person where release_id = $id and kept and first_slot <> 0", id=period.release_id
    )
    if moved and (source == "records" or timetable.holidays):
        raise ScheduleError(
            f"release {period.release_id} lays {moved:,} people from other weeks onto its own: dates mean nothing in "
            "it; use basis='observed' and no holidays, or a release without align"
        )


def _held(store: Store, schedule_id: str, timetable: Timetable) -> dict[str, int]:
    """In how many weeks that count each slot was held."""
    weeks = dict(store.rows(step("3_slots/_weeks_held"), schedule_id=schedule_id))
    return {slot.name: weeks.get(number, 0) for number, slot in enumerate(timetable.slots, start=1)}


def _refuse_short(held: dict[str, int], period: Period, empty: int = 0) -> None:
    short = [name for name, weeks in held.items() if weeks < LEAST]
    if short:
        many = f"{len(short)} of {len(held)} slots are" if len(short) > 1 else "a slot is"
        without = f", {empty} weeks without any data left out" if empty else ""
        raise ScheduleError(
            f"{many} held in fewer than {LEAST} weeks ({short[0]} in {held[short[0]]}) of the {period.calendar.days} "
            f"days of release {period.release_id}{without}: a habit needs weeks to show in; take a longer period"
        )


def _write_timetable(store: Store, schedule_id: str, timetable: Timetable, period: Period) -> None:
    ((empty,),) = store.rows("select count(*) from slots.week where schedule_id = $id and not counted", id=schedule_id)
    held = _held(store, schedule_id, timetable)
    _refuse_short(held, period, empty)
    rows = [
        (schedule_id, number, slot.name, slot.weekday, clock(slot.begins), clock(slot.ends), held[slot.name])
        for number, slot in enumerate(timetable.slots, start=1)
    ]
    names = [column.name for column in Query.load("slots.timetable").columns]
    store.insert("slots.timetable", pl.DataFrame(rows, schema=names, orient="row"))


def _describe(store: Store, params: dict[str, object], timetable: Timetable, inside: list[dt.date]) -> None:
    ((counted, empty, records),) = store.rows(
        "select count(*) filter (counted), count(*) filter (not counted), sum(records)::bigint from slots.week "
        "where schedule_id = $id",
        id=params["schedule_id"],
    )
    row = {
        "schedule_id": params["schedule_id"],
        "traces_id": params["traces_id"],
        "release_id": params["release_id"],
        "timetable": timetable.name,
        "source": params["source"],
        "tz": store.rows("select tz from counts.release where release_id = $id", id=params["release_id"])[0][0],
        "tick_seconds": params["tick_seconds"],
        "slots": len(timetable.slots),
        "weeks": counted,
        "skipped_weeks": empty,
        "holidays": json.dumps([str(date) for date in inside]),
        "records": records,
    }
    store.insert("study.schedule", pl.DataFrame([row]))
