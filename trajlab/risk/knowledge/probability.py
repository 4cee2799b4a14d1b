"""`probability:K:tolerance`: an adversary who knows K places of a person and each one's share of the visits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trajlab.risk.crowds import combining
from trajlab.risk.crowds.fitting import Fit

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.risk.knowledge import Question
    from trajlab.store import Store

ELEMENTS = """
    select
        trace,
        0 as slot,
        cell,
        0::bigint as label,
        1::bigint as n,
        sum(visits)::double / sum(sum(visits)) over (partition by trace)::double as value
    from slots.visit
    where traces_id = $id
    group by trace, cell
"""


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

    places: int
    tolerance: float = 0.0
    limit: int = combining.LIMIT

    def __post_init__(self) -> None:
        combining.check(self.places, self.limit, "places", self.tolerance)

    def search(self, store: Store, ask: Question, progress: Progress) -> None:
        combining.search(
            store,
            ask,
            progress,
            ELEMENTS,
            most=self.places,
            limit=self.limit,
            called="places",
            fit=Fit(self.tolerance),
        )


KNOWLEDGE = Probability
