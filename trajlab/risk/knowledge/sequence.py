"""`sequence:K`: an adversary who knows K visits of a person and in which order they were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from trajlab.risk.knowledge._combinations import LIMIT, check, elements, search

if TYPE_CHECKING:
    from trajlab.risk.knowledge import Answer, Case, Show, Visits


@dataclass(frozen=True, slots=True)
class Sequence:
    """K visits of a person are known by their places and in their order, though not when they were.

    A trace fits when it visits the places in the same order, whatever it visits in between. The
    worst K visits count for a person (scikit-mobility's LocationSequenceAttack). Visits
    within one slot are in the order of their cells: no finer time is kept.

    Anna went to A, B, A, Ben to A, B, and Carl to B, A. Anna's A then A fits her alone:
    k = 1. Ben's A then B fits Anna too: k = 2, and so does Carl's B then A.

    `limit` is how many different combinations a person may have for the mean to be given; visits
    in a row to one place are the same.
    """

    examples: ClassVar[tuple[str, ...]] = ("sequence:{}",)

    visits: int
    limit: int = LIMIT

    def __post_init__(self) -> None:
        check(self.visits, self.limit)

    def search(self, case: Case, show: Show) -> Answer:
        return search(case, show, _visits, most=self.visits, limit=self.limit, ordered=True)


def _visits(visits: Visits) -> pl.DataFrame:
    return elements(visits.frame(), at=pl.col("slot"), n=pl.col("visits"))


KNOWLEDGE = Sequence
