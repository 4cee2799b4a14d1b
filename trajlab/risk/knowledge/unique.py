"""`unique:K`: an adversary who knows K different places of a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trajlab.risk.crowds import combining

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.risk.knowledge import Question
    from trajlab.store import Store

ELEMENTS = """
    select distinct trace, 0 as slot, cell, 0::bigint as label, 1::bigint as n, null::double as value
    from slots.visit
    where traces_id = $id
"""


@dataclass(frozen=True, slots=True)
class Unique:
    """K different places that a person visits are known, not how often or when.

    A trace fits when it visits all of them. The worst K places count for a person
    (scikit-mobility's UniqueLocationAttack).

    Anna visits A, B and C, Ben A and B, Carl B and C. Of two places, A and C fit Anna
    alone: k = 1. A and B fit Anna and Ben: k = 2 for Ben, and for Carl with B and C.

    `limit` is how many combinations a person may have for the mean to be given.
    """

    places: int
    limit: int = combining.LIMIT

    def __post_init__(self) -> None:
        combining.check(self.places, self.limit, "places")

    def search(self, store: Store, ask: Question, progress: Progress) -> None:
        combining.search(store, ask, progress, ELEMENTS, most=self.places, limit=self.limit, called="places")


KNOWLEDGE = Unique
