"""A timetable found in the records: lessons show in when people come to places and leave them (ma2017, figure 1).

People are first seen at a place soon after a lesson begins there and last seen shortly before it ends.
So arrivals jump up at a beginning and departures drop at an end. Both are looked for in
steps of five minutes over all weekdays at once; a weekday has the slots whose beginning shows in its
own arrivals, by more than chance.
"""

from __future__ import annotations

import dataclasses
import fnmatch
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from trajlab.errors import ScheduleError
from trajlab.ids import digest
from trajlab.query import Query
from trajlab.schedule.timetable import Slot, Timetable, dates, grid, read
from trajlab.schedule.weeks import Period, write_clock

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trajlab.progress import Progress
    from trajlab.store import Store

Floats = npt.NDArray[np.float64]

STEP = 5
"""Minutes: clocks of timetables show multiples of it."""
STEPS = 24 * 60 // STEP
AROUND = 3
"""Steps before and after an edge that are compared: a quarter of an hour, as phones are seen every few minutes."""
APART = 6
"""Steps that two beginnings are apart at least, and a slot is long: half an hour."""
WEAKEST = 0.1
"""An edge shows when its jump has at least this part of the largest."""
ON_A_DAY = 0.25
"""A weekday has a slot when its jump has at least this part of the median weekday's."""


def timetable_of(
    store: Store, release_id: str, given: object, holidays: Iterable[object], progress: Progress
) -> Timetable:
    """The timetable that was given or is to be found, with holidays of the file's and the caller's own."""
    kind, _, pattern = given.partition(":") if isinstance(given, str) else ("", "", "")
    skipped = dates(holidays)
    timetable = find(store, release_id, pattern or "*", progress) if kind == "found" else read(given)
    return dataclasses.replace(timetable, holidays=tuple(sorted({*timetable.holidays, *skipped})))


def find(store: Store, release_id: str, pattern: str, progress: Progress) -> Timetable:
    """The weekly slots that show in the records of a release, at places whose names fit the pattern."""
    counts = _counts(store, release_id, pattern, progress)
    name = f"found:{pattern}" if pattern != "*" else "found"
    slots = tuple(_slots(counts))
    if not slots:
        raise ScheduleError(
            f"{name}: no beginning and end of anything shows in {int(counts[0].sum()):,} arrivals: name the places "
            "where people have lessons or shifts (found:classroom-*), or give a timetable"
        )
    return Timetable(name, slots)


def _slots(counts: Floats) -> list[Slot]:
    come, go = counts
    begin_by_day, end_by_day = _jumps(come), _jumps(go[:, ::-1])[:, ::-1]
    begins, ends = (
        _peaks(jumps.sum(axis=0), _noise(counted.sum(axis=0, keepdims=True))[0])
        for jumps, counted in ((begin_by_day, come), (end_by_day, go))
    )
    noise = _noise(come)
    found = []
    for begin, following in zip(begins, [*begins, STEPS][1:], strict=True):
        fitting = [end + 1 for end in ends if begin + APART <= end + 1 <= following]
        if not fitting:
            continue
        end = max(fitting, key=lambda edge: end_by_day[:, edge - 1].sum())
        jump = begin_by_day[:, begin]
        usual = np.median(jump[jump > 0])
        days = np.flatnonzero((jump >= ON_A_DAY * usual) & (jump > noise[:, begin])) + 1
        found += [Slot(int(day), begin * STEP, end * STEP) for day in days]
    return sorted(found)


def _jumps(counts: Floats) -> Floats:
    """How many more come in the quarter of an hour from each step on than in the one before it, by weekday."""
    before, after = _sides(counts)
    return after - before


def _noise(counts: Floats) -> Floats:
    """What a jump may be by chance alone: three standard deviations of the counts compared."""
    before, after = _sides(counts)
    noise: Floats = 3 * np.sqrt(np.maximum(before + after, 1))
    return noise


def _sides(counts: Floats) -> tuple[Floats, Floats]:
    """Sums over the steps before and after each beginning of a step."""
    padded = np.pad(counts, ((0, 0), (AROUND, AROUND)))
    running = np.concatenate([np.zeros((len(counts), 1)), np.cumsum(padded, axis=1)], axis=1)
    at = np.arange(STEPS) + AROUND
    return running[:, at] - running[:, at - AROUND], running[:, at + AROUND] - running[:, at]


def _peaks(jumps: Floats, noise: Floats) -> list[int]:
    """Steps with the largest jump within half an hour on either side, where it is more than chance."""
    padded = np.pad(jumps, APART - 1, constant_values=-np.inf)
    around = np.lib.stride_tricks.sliding_window_view(padded, 2 * APART - 1)
    highest = (jumps == around.max(axis=1)) & (around[:, : APART - 1].max(axis=1) < jumps)
    return [int(step) for step in np.flatnonzero(highest & (jumps > noise) & (jumps >= WEAKEST * jumps.max()))]


def arrivals(store: Store, release_id: str, progress: Progress) -> None:
    """Build `metrics.coming` of a release, once."""
    clock_id = "c" + digest(release_id, STEP)
    if store.rows("select 1 from slots.week_clock where clock_id = $id limit 1", id=clock_id):
        return
    period = Period.of(store, release_id)
    with store.transaction("arrivals and departures"), progress.step("metrics.coming", poll=store.engine.percent_done):
        tick = write_clock(store, clock_id, period, grid(f"{STEP}min"), "records")
        query = Query.load("metrics.coming")
        store.build(query, release_id=release_id, index_id=period.index_id, clock_id=clock_id, tick_seconds=tick)


def _counts(store: Store, release_id: str, pattern: str, progress: Progress) -> Floats:
    """Arrivals and departures by weekday and step, at the places that fit."""
    labels = store.frame(
        "select cell, label from grid.cell join counts.release using (index_id) where release_id = $id", id=release_id
    )
    fitting = [cell for cell, label in labels.iter_rows() if fnmatch.fnmatchcase(label, pattern)]
    if not fitting:
        raise ScheduleError(f"found:{pattern}: none of the {len(labels):,} cells of the release has such a name")
    arrivals(store, release_id, progress)
    rows = store.frame(
        "select weekday, minute, sum(arrivals)::bigint as arrivals, sum(departures)::bigint as departures "
        "from metrics.coming where release_id = $id and list_contains($cells::ubigint[], cell) "
        "group by weekday, minute",
        id=release_id,
        cells=fitting,
    )
    counts = np.zeros((2, 7, STEPS))
    day, step = rows["weekday"].to_numpy() - 1, rows["minute"].to_numpy() // STEP
    counts[0, day, step], counts[1, day, step] = rows["arrivals"].to_numpy(), rows["departures"].to_numpy()
    return counts
