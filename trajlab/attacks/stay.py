"""Yardstick: nobody moves unless the counts force it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from trajlab.attacks import Tracks
from trajlab.attacks._city import by_place
from trajlab.attacks._steps import StepLog
from trajlab.attacks._tables import whole_tables
from trajlab.release import Release


@dataclass(frozen=True, slots=True)
class Stay:
    """Leave everybody where they are; who must go, and where to, is left to chance.

    What this recovers is what people's rest gives away, without any idea of distance,
    direction or habit.
    """

    requires: ClassVar[tuple[str, ...]] = ("every slot", "population")

    def recover(self, release: Release, rng: np.random.Generator, log: StepLog) -> Tracks:
        release.require(*self.requires)
        order = by_place(release)
        counts = whole_tables(release, order, at_rest=True)
        cells = np.arange(counts.shape[1])
        tracks = np.empty((int(counts[0].sum()), len(counts)), dtype=np.int32)
        tracks[:, 0] = now = np.repeat(cells, counts[0])
        for slot in range(1, len(counts)):
            drawn = np.lexsort((rng.random(len(now)), now))
            rank = np.arange(len(now)) - np.searchsorted(now[drawn], now[drawn])
            leaving = drawn[rank >= counts[slot][now[drawn]]]
            arriving = np.repeat(cells, np.maximum(counts[slot] - counts[slot - 1], 0))
            now = now.copy()
            now[leaving] = rng.permutation(arriving)
            tracks[:, slot] = now
        return np.append(order, np.int32(-1))[tracks]


ATTACK = Stay
