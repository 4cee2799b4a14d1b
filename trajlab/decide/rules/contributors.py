"""contributors: how many people are behind each row, whatever the value that it shows."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, ClassVar

from trajlab.decide import PEOPLE, SINGLING_OUT, TABLE, Finding
from trajlab.decide._published import TABLES, check_name, noise_answers, rows_behind

if TYPE_CHECKING:
    from trajlab.lab import Lab
    from trajlab.release import Release


@dataclass(frozen=True, slots=True)
class Contributors:
    """The fewest people behind a published row of `table` (occupancy, flow or both).

    Rounding, weights and factors change values and not this. With `unless_epsilon`, noise of at most that ε per
    person-week answers instead: a row then hides whether anybody is behind it.
    """

    concern: ClassVar[str] = SINGLING_OUT
    about: ClassVar[str] = TABLE
    unit: ClassVar[str] = PEOPLE
    limit: ClassVar[str] = "at_least"

    table: str = "both"
    unless_epsilon: float = 0.0

    def __post_init__(self) -> None:
        check_name("table", self.table, TABLES)

    def answer(self, lab: Lab, release: Release, limit: float, seed: int) -> Finding:
        if noise := noise_answers(release, self.unless_epsilon, limit):
            return noise
        rows, fewest, few_rows, few_people = rows_behind(lab, release, self.table, ceil(limit))
        if fewest is None:
            return Finding(limit, "no count with anybody behind it is published, which counts as", people=0)
        note = f"{few_rows:,} of {rows:,} counts have fewer than {ceil(limit)}" if few_rows else f"all {rows:,} counts"
        return Finding(float(fewest), "the fewest people behind a published count are", people=few_people, note=note)


RULE = Contributors
