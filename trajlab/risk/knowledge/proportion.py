"""`proportion:K:tolerance`: an adversary who knows K places of a person and how their visits compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trajlab.risk.crowds.fitting import Fit
from trajlab.risk.knowledge._combinations import LIMIT, check, search_places

if TYPE_CHECKING:
    from trajlab.risk.knowledge import Answer, Case, Show


@dataclass(frozen=True, slots=True)
class Proportion:
    """K different places that a person visits are known, and how often compared with the most visited of them.

    Numbers of visits are divided by the largest among the K, on both sides. A trace with the
    proportion v at a place fits a known one between v - v * tolerance and v + v * tolerance, and
    has to fit at all K places. The worst K places count for a person (scikit-mobility's
    LocationProportionAttack). With a tolerance, one place more may change what the
    largest is, and more people may fit: knowing more is then not always worse.

    Anna visited A once and B twice, Ben A twice and B four times, Carl A twice and B twice. Half as
    often at A as at B: Anna and Ben, k = 2; as often: Carl alone.

    `limit` is how many combinations a person may have for the mean to be given.
    """

    examples: ClassVar[tuple[str, ...]] = ("proportion:{}", "proportion:{}:0.5")

    places: int
    tolerance: float = 0.0
    limit: int = LIMIT

    def __post_init__(self) -> None:
        check(self.places, self.limit, "places", self.tolerance)

    def search(self, case: Case, show: Show) -> Answer:
        return search_places(
            case, show, "visits", most=self.places, limit=self.limit, fit=Fit(self.tolerance, relative=True)
        )


KNOWLEDGE = Proportion
