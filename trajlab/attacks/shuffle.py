"""Yardstick: keep the counts, join the slots at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from trajlab.attacks import Tracks
from trajlab.attacks._city import by_place
from trajlab.attacks._steps import StepLog
from trajlab.release import Release


@dataclass(frozen=True, slots=True)
class Shuffle:
    """Join the slots at random.

    What this recovers is what the map alone gives away. An attack that does no better has
    learned nothing about people, so every report shows both.
    """

    requires: ClassVar[tuple[str, ...]] = ("every slot", "equal totals")

    def recover(self, release: Release, rng: np.random.Generator, log: StepLog) -> Tracks:
        release.require(*self.requires)
        cells = by_place(release)
        return np.column_stack([rng.permutation(np.repeat(cells, slot)) for slot in release.matrix()[:, cells]])


ATTACK = Shuffle
