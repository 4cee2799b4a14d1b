"""Trajectory recovery from ash (Xu et al., WWW 2017), in three stages."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from trajlab.attacks import Tracks
from trajlab.attacks._city import City, Ints, check_hours
from trajlab.attacks._daily import Day
from trajlab.attacks._linking import keep_apart, link
from trajlab.attacks._small import is_small, walk
from trajlab.attacks._steps import StepLog, link_cost
from trajlab.errors import AttackError
from trajlab.matching import one_blas_thread
from trajlab.release import Release

MANY = 500
"""People from which on several days are worked on at once."""


@dataclass(frozen=True, slots=True)
class Xu2017:
    """Recover each day from people's inertia, then join days that resemble each other.

    By night (until `night_hours`) a track moves as little as the counts allow; by day it keeps
    its velocity; days are joined one after another where the information gain of joining is
    least. Every one of these is an optimal matching. `direct_link_below` (metres) is the
    paper's short cut: pairs closer than that are linked at once, nearest first, and the
    optimum is only sought for the rest; 0 seeks it for all.

    Three people in cells a, b, c for three slots of a night: counts (1, 1, 1), (1, 1, 1),
    (1, 0, 2) with b next to c. The first step keeps all in place at no cost; in the second
    the one in b moves to c: tracks aaa, bbc, ccc.
    """

    requires: ClassVar[tuple[str, ...]] = (
        "every slot", "population", "night start", "two days", "two people", "two cells", "coordinates",
    )  # fmt: skip

    night_hours: float = 6.0
    direct_link_below: float = 0.0

    def __post_init__(self) -> None:
        check_hours(self.night_hours)
        if not 0 <= self.direct_link_below < float("inf"):
            raise AttackError(f"direct_link_below is a distance in metres, 0 or more, not {self.direct_link_below:g}")

    def recover(self, release: Release, rng: np.random.Generator, log: StepLog) -> Tracks:
        release.require(*self.requires)
        city = City(release, self.night_hours, int(rng.integers(2**62)))
        log.expect(city.slots - 1, links=city.days - 1, link=link_cost(city.people, city.slots_per_day))
        cores = min(os.cpu_count() or 1, city.days) if city.people >= MANY else 1
        with one_blas_thread(), ThreadPoolExecutor(cores) as pool:
            days = [pool.submit(self._day, city, day, log) for day in range(city.days)]

            def linked(day: int) -> Ints:  # queued behind all days, so the two that it waits for are under way
                return link(city, day, [days[day - 1].result()], days[day].result(), log)

            links = [pool.submit(linked, day) for day in range(1, city.days)]
            try:
                for waiting in (*days, *links):
                    waiting.result()
            except BaseException:  # an interruption must not wait for days that nobody wants any more
                log.stop()
                pool.shutdown(cancel_futures=True)
                raise
        tracks = days[0].result()
        member = np.arange(city.people)
        for day, part in enumerate(days[1:], start=1):
            yesterday, today = days[day - 1].result()[member], part.result()
            member = keep_apart(city, [yesterday], tracks, today, links[day - 1].result()[member])
            tracks = np.concatenate([tracks, today[member]], axis=1)
        return city.as_listed(tracks)

    def _day(self, city: City, number: int, log: StepLog) -> Ints:
        if is_small(city) and not self.direct_link_below:
            return walk(city, number, log, city.is_night | (np.arange(city.slots_per_day) == 0), None)
        day = Day(city, number, log, link_below=self.direct_link_below)
        tracks = [day.first()]
        for slot in range(day.slots - 1):
            if slot == 0 or city.is_night[slot]:
                tracks.append(day.stay_near(slot, tracks[-1]))
            else:
                tracks.append(day.keep_going(slot, tracks[-2], tracks[-1]))
        return np.column_stack(tracks)


ATTACK = Xu2017
