"""count_error: how far published counts are from the true ones (a floor of usefulness)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trajlab.decide import SHARE, TABLE, UTILITY, Finding, Unanswerable
from trajlab.decide._published import beside_everything, check_name
from trajlab.errors import UtilityError
from trajlab.utility import counts

if TYPE_CHECKING:
    from trajlab.lab import Lab
    from trajlab.release import Release

WORDS = {
    "relative_error": "published counts are off by",
    "median_relative_error": "half of the published counts are off by more than",
    "hidden_people": "of the time of people, the table hides",
    "hidden_rows": "of the rows with somebody, the table hides",
    "invented_rows": "of the published rows, nobody is in",
}


@dataclass(frozen=True, slots=True)
class CountError:
    """`measure` of metrics.count_error for `table` (occupancy or flow): what protection did to the counts."""

    concern: ClassVar[str] = UTILITY
    about: ClassVar[str] = TABLE
    unit: ClassVar[str] = SHARE
    limit: ClassVar[str] = "at_most"

    measure: str = "relative_error"
    table: str = "occupancy"

    def __post_init__(self) -> None:
        check_name("measure of counts", self.measure, tuple(WORDS))
        check_name("table", self.table, counts.TABLES)

    def answer(self, lab: Lab, release: Release, limit: float, seed: int) -> Finding:
        with beside_everything(lab, release) as (everything, published):
            try:
                found = lab.count_utility(published, unprotected=everything)
            except UtilityError as error:
                raise Unanswerable(str(error)) from error
        row = found.errors.filter(measure=self.measure, published_table=self.table)
        if not len(row) or row["estimate"][0] is None:
            raise Unanswerable(f"the release has no {self.table} to take {self.measure} of")
        estimate, low, high = row.select("estimate", "low", "high").row(0)
        return Finding(estimate, WORDS[self.measure], low, high, note="the interval is over slots")


RULE = CountError
