"""epsilon: how little noise hides, in the measure of differential privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trajlab.decide import EPSILON, INFERENCE, TABLE, Finding
from trajlab.decide._published import check_name, epsilon_of
from trajlab.protect.noise import UNITS

if TYPE_CHECKING:
    from trajlab.lab import Lab
    from trajlab.release import Release


@dataclass(frozen=True, slots=True)
class Epsilon:
    """The ε that the release's noise leaves per `unit` (person-slot, person-day, person-week or person).

    A unit that the noise is not made for is worked out by adding up (sequential composition). A table without
    noise has none, and fails.
    """

    concern: ClassVar[str] = INFERENCE
    about: ClassVar[str] = TABLE
    unit: ClassVar[str] = EPSILON
    limit: ClassVar[str] = "at_most"

    per: str = "person-week"

    def __post_init__(self) -> None:
        check_name("unit of noise", self.per, UNITS)

    def answer(self, lab: Lab, release: Release, limit: float, seed: int) -> Finding:
        eps = epsilon_of(release, self.per)
        if eps is None:
            return Finding(math.inf, f"without noise, what is told per {self.per} is")
        return Finding(eps, f"the noise leaves, per {self.per},", note=release.recipe[-1])


RULE = Epsilon
