"""`time:K:hour`: an adversary who knows K visits of a person, the place and the hour, day, month or year."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from trajlab.errors import UnknownNameError
from trajlab.risk.knowledge._combinations import LIMIT, check, elements, search

if TYPE_CHECKING:
    from trajlab.risk.knowledge import Answer, Case, Show, Visits

RESOLUTIONS = {"hour": "1h", "day": "1d", "month": "1mo", "year": "1y"}


@dataclass(frozen=True, slots=True)
class Time:
    """K visits of a person are known, the place and the hour (or day, month, year) of each.

    A trace fits when it has at least as many visits to each place within each hour. The hour
    is that of the date, in local time, in which the slot begins: slots longer than the resolution
    leave no more than the slot. The worst K visits count for a person
    (scikit-mobility's LocationTimeAttack; its "Hour" is in fact the day, its issue 265; here it is the hour).

    Anna was at A at 8 and at B at 9, Ben at A at 8 and at B at 10, Carl at A at 9. One visit
    known by the hour: A at 8 fits Anna and Ben, B at 9 Anna alone: k = 1 for each of the three. By
    the day A fits all of them and B two: k = 2 for Anna and Ben, 3 for Carl.

    `limit` is how many different combinations a person may have for the mean to be given.
    """

    examples: ClassVar[tuple[str, ...]] = ("time:{}", "time:{}:day")

    visits: int
    resolution: str = "hour"
    limit: int = LIMIT

    def __post_init__(self) -> None:
        check(self.visits, self.limit)
        if self.resolution not in RESOLUTIONS:
            raise UnknownNameError("resolution", str(self.resolution), RESOLUTIONS)

    def search(self, case: Case, show: Show) -> Answer:
        return search(case, show, lambda visits: self._visits(case, visits), most=self.visits, limit=self.limit)

    def _visits(self, case: Case, visits: Visits) -> pl.DataFrame:
        begins = pl.col("starts").dt.truncate(RESOLUTIONS[self.resolution]).cast(pl.Int64)
        times = case.slots().select("slot", label=begins)
        joined = visits.frame().join(times, on="slot")
        counted = joined.group_by("trace", "cell", "label").agg(pl.col("visits").sum())
        return elements(counted, n=pl.col("visits"), label=pl.col("label"))


KNOWLEDGE = Time
