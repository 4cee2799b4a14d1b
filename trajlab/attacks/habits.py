"""The strongest attack here: whose habits explain the counts best, over all days at once."""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from trajlab.attacks import Tracks
from trajlab.attacks._city import City
from trajlab.attacks._steps import StepLog
from trajlab.attacks.dsilva2024 import DSilva2024
from trajlab.errors import AttackError
from trajlab.release import Release

if TYPE_CHECKING:
    from trajlab.attacks._habits_model import Cells, Model

WHOLE_NUMBERS = {"restarts": 1, "rounds": 1, "samples": 1, "windows": 0, "joining": 0, "beliefs": 0}
"""Settings that are whole numbers, and the least that they can be."""
ON_LISTS = 4
"""Of so many rounds one is enough on short lists: more did not help in simulated cities."""


@dataclass(frozen=True, slots=True)
class Habits:
    """Find tracks of which each has habits: places, hours and ways of its own.

    Starts from the tracks of `dsilva2024`. Where each track is becomes a belief, improved in `beliefs`
    rounds over all days and counts at once; the answer is the tracks that fit it best. Where there
    are many people and cells, beliefs are about a short list of cells for each track and day, and
    there are a quarter of the rounds.

    Where these tracks are explained worse than the first ones (nobody has habits), or without
    `beliefs`, tracks exchange cells instead: they
    are annealed in `rounds` from temperature `warm` to `cold`. In the first `joining` rounds all
    tracks' days are given out anew, one day after the other, to those whose other days they fit. In
    every round `windows` windows per person and day are tried in which two tracks exchange some of
    their cells, whichever are more usual for the other. Of `restarts` the one that explains the
    counts best is taken, and the answer is the vote of its `samples` last rounds.

    What is usual is learned from the tracks themselves in every round; `evidence` is what a slot in
    a usual place counts beside a move, and `floor` how usual a place is at least. Far from home that
    follows how much a track travels, and by `alike` how much all do.

    Two people who work in the same cell leave it at the same time, one to a, the other to b. On
    all other nights one of them was in a, the other in b: so they are tonight.
    """

    requires: ClassVar[tuple[str, ...]] = DSilva2024.requires

    beliefs: int = 40
    restarts: int = 2
    rounds: int = 12
    samples: int = 4
    windows: int = 12
    joining: int = 6
    warm: float = 1.0
    cold: float = 0.5
    evidence: float = 0.3
    floor: float = 0.02
    alike: float = 0.3

    def __post_init__(self) -> None:
        for field in fields(self):
            value, least = getattr(self, field.name), WHOLE_NUMBERS.get(field.name)
            if least is None:
                if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
                    raise AttackError(f"{field.name} is a number above 0, not {value!r}")
            elif isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise AttackError(f"{field.name} is a whole number, {least} or more, not {value!r}")

    def recover(self, release: Release, rng: np.random.Generator, log: StepLog) -> Tracks:
        from trajlab.attacks._habits_beliefs import believe, fits
        from trajlab.attacks._habits_model import first_model
        from trajlab.attacks._habits_sparse import believe_sparsely
        from trajlab.attacks._habits_votes import agreement, confidence, vote

        release.require(*self.requires)
        begin = DSilva2024().recover(release, rng, log)
        city = City(release, 0.0, int(rng.integers(2**62)))
        tracks = city.as_sorted(begin).astype(np.int32)
        model = first_model(city, tracks, self.evidence, self.floor, self.alike)
        if self.beliefs:
            if fits(tracks):
                answer, belief = believe(city, tracks, model, self.beliefs)
            else:
                answer, belief = believe_sparsely(
                    city, tracks, model, -(-self.beliefs // ON_LISTS), int(rng.integers(2**62))
                )
            if self._explained(city, answer) >= self._explained(city, tracks):
                log.confidence = confidence(belief)
                return city.as_listed(answer.astype(np.int64))
        seeds = rng.integers(1, 2**62, size=self.restarts)
        with ThreadPoolExecutor(min(os.cpu_count() or 1, self.restarts)) as pool:
            runs = list(pool.map(lambda seed: self._anneal(city, tracks, model, int(seed)), seeds))
        best = max(range(self.restarts), key=lambda number: runs[number][0])
        samples, others = runs[best][1], [other for number, (_, other) in enumerate(runs) if number != best]
        answer = vote(samples)
        log.confidence = confidence(agreement(answer, samples, others, city.places))
        return city.as_listed(answer.astype(np.int64))

    def _explained(self, city: City, tracks: Cells) -> float:
        """The objective of tracks by the model that they suggest themselves."""
        from trajlab.attacks._habits_model import first_model, fit

        return fit(first_model(city, tracks, self.evidence, self.floor, self.alike), tracks, city.slots_per_day)[1]

    def _anneal(self, city: City, begin: Cells, model: Model, seed: int) -> tuple[float, list[Cells]]:
        """The objective at the end of one restart, and its samples."""
        from trajlab.attacks._habits_exchange import seats, sweep
        from trajlab.attacks._habits_linking import join_days
        from trajlab.attacks._habits_model import fit

        tracks, rng, state = begin.copy(), np.random.default_rng(seed), np.array([seed], dtype=np.uint64)
        tries = self.windows * city.people * city.days
        seat, who, first = seats(tracks, city.places)
        objective, samples = -math.inf, []
        for number in range(self.rounds + self.samples):
            temperature = self.warm * (self.cold / self.warm) ** min(number / max(self.rounds - 1, 1), 1.0)
            if number < self.joining:
                join_days(city, tracks, model, temperature, rng)
                seat, who, first = seats(tracks, city.places)
            sweep(tracks, seat, who, first, city.slots_per_day, model, 1 / temperature, tries, state)
            model, objective = fit(model, tracks, city.slots_per_day)
            if number >= self.rounds:
                samples.append(tracks.copy())
        return objective, samples


ATTACK = Habits
