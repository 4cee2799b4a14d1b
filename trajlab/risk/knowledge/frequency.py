"""`frequency:K:tolerance`: an adversary who knows K places of a person and how many visits each had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trajlab.risk.crowds.fitting import Fit
from trajlab.risk.knowledge._combinations import LIMIT, check, search_places

if TYPE_CHECKING:
    from trajlab.risk.knowledge import Answer, Case, Show


@dataclass(frozen=True, slots=True)
class Frequency:
    """K different places that a person visits are known, and how many visits each had.

    A trace with v visits to a place fits a known number between v - v * tolerance and
    v + v * tolerance, and has to fit at all K places. The worst K places count for a person
    (scikit-mobility's LocationFrequencyAttack).

    Anna visited A 4 times, Ben 5 times and Carl 8 times. Exactly known, each is alone with the
    number. With a tolerance of 0.25, Anna's 4 fits Ben's trace (3.75 to 6.25): k = 2; Ben's 5 fits
    Anna's (3 to 5): k = 2; Carl's 8 fits neither: k = 1.

    `limit` is how many combinations a person may have for the mean to be given.
    """

    examples: ClassVar[tuple[str, ...]] = ("frequency:{}", "frequency:{}:0.5")

    places: int
    tolerance: float = 0.0
    limit: int = LIMIT

    def __post_init__(self) -> None:
        check(self.places, self.limit, "places", self.tolerance)

    def search(self, case: Case, show: Show) -> Answer:
        return search_places(case, show, "visits", most=self.places, limit=self.limit, fit=Fit(self.tolerance))


KNOWLEDGE = Frequency
