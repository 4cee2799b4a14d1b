"""Knowledge of somebody's most frequent places (yin2015; xu2017, figure 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trajlab.errors import RiskError, UnknownNameError
from trajlab.risk.knowledge._lists import search

if TYPE_CHECKING:
    import polars as pl

    from trajlab.risk.knowledge import Answer, Case, Show, Visits

ORDERS = ("ordered", "unordered")
MIN_SHARE = 0.1
"""The papers give no number."""


@dataclass(frozen=True, slots=True)
class Top:
    """The most frequent places, in order or as a set: top:2, top:3:unordered, top:variable.

    `places` is how many, or `variable` for those that hold at least `min_share` of the visits,
    the first of them where none does. Ties go to the place visited first. Whoever has fewer
    places is known by all of them; a trace fits when its own list is the very same.
    """

    examples: ClassVar[tuple[str, ...]] = ("top:{}", "top:{}:unordered", "top:variable", "top:variable:unordered:0.3")

    places: str | int
    order: str = "ordered"
    min_share: float = MIN_SHARE

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise UnknownNameError("order", self.order, ORDERS)
        if not 0 < self.min_share <= 1:
            raise RiskError(f"min_share is a share of somebody's visits, above 0 and up to 1, not {self.min_share:g}")
        if self.places == "variable":
            return
        number = str(self.places)
        if not number.isascii() or not number.isdigit() or int(number) < 1:
            raise RiskError(f"top takes a number of places, 1 or more, or the word variable, not {self.places!r}")
        if self.min_share != MIN_SHARE:
            raise RiskError(f"min_share goes with top:variable; top:{number} takes the places whatever their share")
        object.__setattr__(self, "places", int(number))

    def search(self, case: Case, show: Show) -> Answer:
        most = self.places if isinstance(self.places, int) else None
        least_share = self.min_share if most is None else 2.0  # no share is as large as that

        def read(visits: Visits) -> pl.DataFrame:
            return visits.top(most or 1, least_share)

        return search(case, read, "top", most, ordered=self.order == "ordered")


KNOWLEDGE = Top
