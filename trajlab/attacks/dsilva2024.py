"""The stronger, online recovery of D'Silva et al. (2024): habits learned from the days before."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from trajlab.attacks import Tracks
from trajlab.attacks._city import City, Ints
from trajlab.attacks._daily import Day, Successors
from trajlab.attacks._linking import keep_apart, link
from trajlab.attacks._small import is_small, walk
from trajlab.attacks._steps import StepLog, link_cost
from trajlab.errors import AttackError
from trajlab.matching import one_blas_thread
from trajlab.release import Release

MANY = 500
"""People from which on a single step is worth several threads."""


@dataclass(frozen=True, slots=True)
class DSilva2024:
    """Recover day after day; where tracks usually went next counts as much as their velocity.

    Only the first step of a day goes by distance. In all others a track is expected at the
    point where its velocity leads, or in the cells that most often followed its cell on the
    days recovered so far, whichever is nearest to the cell in question. Each new day is
    joined to the tracks by the most similar of their last `lookback` days. Each day starts
    from its own first counts.

    Works online: after each day the tracks so far can be read, and an interrupted run goes
    on from its last finished day.

    On day one somebody goes from a to c and somebody else from b to d, one after the other; d
    is near a, and c near b. On day two both leave at once. By velocity each would end in the
    cell near by, a in d and b in c. But c followed a before, and d followed b: tracks aac, bbd.
    """

    requires: ClassVar[tuple[str, ...]] = (
        "every slot", "population", "night start", "two days", "two people", "two cells", "coordinates",
    )  # fmt: skip

    lookback: int = 3

    def __post_init__(self) -> None:
        if isinstance(self.lookback, bool) or not isinstance(self.lookback, int) or self.lookback < 1:
            raise AttackError(f"lookback is a number of days, 1 or more, not {self.lookback!r}")

    def recover(self, release: Release, rng: np.random.Generator, log: StepLog) -> Tracks:
        return np.concatenate(list(self.days(release, rng, log, None)), axis=1)

    def days(self, release: Release, rng: np.random.Generator, log: StepLog, known: Tracks | None) -> Iterator[Tracks]:
        release.require(*self.requires)
        city = City(release, 0.0, int(rng.integers(2**62)))
        threads = (os.cpu_count() or 1) if city.people >= MANY else 1
        tracks = city.as_sorted(known) if known is not None else np.empty((city.people, 0), dtype=np.int64)
        seen = Transitions(city.cells, tracks)
        done = -(-tracks.shape[1] // city.slots_per_day)
        log.expect(
            city.slots - 1 - max(tracks.shape[1] - 1, 0),
            links=city.days - max(done, 1),
            link=link_cost(city.people, city.slots_per_day),
        )
        with one_blas_thread():
            for day in range(done, city.days):
                today = self._day(city, day, seen.successors(), log, threads)
                if day:
                    width = city.slots_per_day
                    last = range(day - 1, max(day - 1 - self.lookback, -1), -1)
                    earlier = [tracks[:, number * width : (number + 1) * width] for number in last]
                    column = link(city, day, earlier, today, log, threads=threads)
                    today = today[keep_apart(city, earlier, tracks, today, column)]
                seen.add(np.concatenate([tracks[:, -1:], today], axis=1))
                tracks = np.concatenate([tracks, today], axis=1)
                yield city.as_listed(today)

    def _day(self, city: City, number: int, habit: Successors, log: StepLog, threads: int) -> Ints:
        if is_small(city):
            return walk(city, number, log, np.arange(city.slots_per_day) == 0, habit)
        day = Day(city, number, log, threads=threads)
        tracks = [day.first()]
        for slot in range(day.slots - 1):
            if slot == 0:
                tracks.append(day.stay_near(slot, tracks[-1]))
            elif len(habit.cell) == 0:
                tracks.append(day.keep_going(slot, tracks[-2], tracks[-1]))
            else:
                tracks.append(day.follow_habit(slot, tracks[-2], tracks[-1], habit))
        return np.column_stack(tracks)


class Transitions:
    """How often one cell followed another in the tracks so far (the paper's matrix B), midnights included."""

    def __init__(self, cells: int, tracks: Ints) -> None:
        self._cells = cells
        self._pair, self._times = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        self.add(tracks)

    def add(self, tracks: Ints) -> None:
        here, there = tracks[:, :-1].ravel(), tracks[:, 1:].ravel()
        inside = np.maximum(here, there) < self._cells  # who goes outside or comes back from there has no habit of it
        pair, times = np.unique(here[inside] * self._cells + there[inside], return_counts=True)
        self._pair, place = np.unique(np.concatenate([self._pair, pair]), return_inverse=True)
        self._times = np.bincount(place, np.concatenate([self._times, times]), len(self._pair)).astype(np.int64)

    def successors(self) -> Successors:
        """The most frequent successors of every cell, all that tie."""
        origin = self._pair // self._cells
        most = np.zeros(self._cells, dtype=np.int64)
        np.maximum.at(most, origin, self._times)
        best = np.flatnonzero(self._times == most[origin])
        first = np.searchsorted(origin[best], np.arange(self._cells + 1))
        return Successors(first, self._pair[best] % self._cells)


ATTACK = DSilva2024
