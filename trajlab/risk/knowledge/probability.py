"""`probability:K:tolerance`: an adversary who knows K places of a person and each one's share of the visits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trajlab.risk.crowds.fitting import Fit
from trajlab.risk.knowledge._combinations import LIMIT, check, search_places

if TYPE_CHECKING:
    from trajlab.risk.knowledge import Answer, Case, Show


@dataclass(frozen=True, slots=True)
class Probability:
    """K different places that a person visits are known, and which share of the visits each had.

    A trace with the share v of its visits at a place fits a known share between v - v * tolerance
    and v + v * tolerance, and has to fit at all K places. The worst K places count for a person
    (scikit-mobility's LocationProbabilityAttack).

    Anna visited A once and B once, Ben A twice and B twice, Carl A three times and B once. A with a half
    fits Anna and Ben: k = 2 for both; A with three quarters fits Carl alone.

    `limit` is how many combinations a person may have for the mean to be given.
    """

    examples: ClassVar[tuple[str, ...]] = ("probability:{}", "probability:{}:0.4")

    places: int
    tolerance: float = 0.0
    limit: int = LIMIT

    def __post_init__(self) -> None:
        check(self.places, self.limit, "places", self.tolerance)

    def search(self, case: Case, show: Show) -> Answer:
        return search_places(case, show, "share", most=self.places, limit=self.limit, fit=Fit(self.tolerance))


KNOWLEDGE = Probability
