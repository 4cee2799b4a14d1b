"""`unique:K`: an adversary who knows K different places of a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trajlab.risk.knowledge._combinations import LIMIT, check, elements, search

if TYPE_CHECKING:
    import polars as pl

    from trajlab.risk.knowledge import Answer, Case, Show, Visits


@dataclass(frozen=True, slots=True)
class Unique:
    """K different places that a person visits are known, not how often or when.

    A trace fits when it visits all of them. The worst K places count for a person
    (scikit-mobility's UniqueLocationAttack).

    Anna visits A, B and C, Ben A and B, Carl B and C. Of two places, A and C fit Anna
    alone: k = 1. A and B fit Anna and Ben: k = 2 for Ben, and for Carl with B and C.

    `limit` is how many combinations a person may have for the mean to be given.
    """

    examples: ClassVar[tuple[str, ...]] = ("unique:{}",)

    places: int
    limit: int = LIMIT

    def __post_init__(self) -> None:
        check(self.places, self.limit, "places")

    def search(self, case: Case, show: Show) -> Answer:
        return search(case, show, _places, most=self.places, limit=self.limit, called="places")


def _places(visits: Visits) -> pl.DataFrame:
    return elements(visits.places())


KNOWLEDGE = Unique
