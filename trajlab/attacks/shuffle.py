"""Yardstick: keep the counts, join the slots at random."""

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
class Shuffle:
    """Join the slots at random.

    What this recovers is what the map alone gives away. An attack that does no better has
    learned nothing about people, so every report shows both.
    """

    requires: ClassVar[tuple[str, ...]] = ("every slot", "population")

    def recover(self, release: Release, rng: np.random.Generator, log: StepLog) -> Tracks:
        release.require(*self.requires)
        order = by_place(release)
        counts = whole_tables(release, order)
        places = np.append(order, np.int32(-1))[: counts.shape[1]]
        return np.column_stack([rng.permutation(np.repeat(places, slot)) for slot in counts])


ATTACK = Shuffle
