"""`locations:K`: an adversary who knows K visits of a person, and of each the place alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from trajlab.risk.knowledge._combinations import LIMIT, check, elements, search

if TYPE_CHECKING:
    from trajlab.risk.knowledge import Answer, Case, Show, Visits


@dataclass(frozen=True, slots=True)
class Locations:
    """K visits of a person are known, each by its place; twice the same place means two visits to it.

    A trace fits when it has at least as many visits to each of the places. The worst K visits
    count for a person (scikit-mobility's LocationAttack).

    Anna went to A, A, B, Ben to A, B, B, and Carl to A, B. Of two visits of Anna, A and B
    fit all three, A and A fit her alone: k = 1. The combinations are AA, AB and AB, so the mean
    risk is (1 + 1/3 + 1/3) / 3. Carl has one combination, which fits three: k = 3.

    `limit` is how many different combinations a person may have for the mean to be given.
    """

    examples: ClassVar[tuple[str, ...]] = ("locations:{}", "locations:{}:1")

    visits: int
    limit: int = LIMIT

    def __post_init__(self) -> None:
        check(self.visits, self.limit)

    def search(self, case: Case, show: Show) -> Answer:
        return search(case, show, _visits, most=self.visits, limit=self.limit)


def _visits(visits: Visits) -> pl.DataFrame:
    return elements(visits.places(), n=pl.col("visits"))


KNOWLEDGE = Locations
