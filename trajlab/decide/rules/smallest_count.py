"""smallest_count: the smallest value that the table shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trajlab.decide import NUMBER, SINGLING_OUT, TABLE, Finding
from trajlab.decide._published import TABLES, check_name, noise_answers
from trajlab.query import step

if TYPE_CHECKING:
    from trajlab.lab import Lab
    from trajlab.release import Release


@dataclass(frozen=True, slots=True)
class SmallestCount:
    """The smallest value above 0 that `table` (occupancy, flow or both) shows: all that can be seen from outside.

    A value says nothing of how many people are behind it once it is rounded or weighted: see contributors. With
    `unless_epsilon`, noise of at most that ε per person-week answers instead.
    """

    concern: ClassVar[str] = SINGLING_OUT
    about: ClassVar[str] = TABLE
    unit: ClassVar[str] = NUMBER
    limit: ClassVar[str] = "at_least"

    table: str = "both"
    unless_epsilon: float = 0.0

    def __post_init__(self) -> None:
        check_name("table", self.table, TABLES)

    def answer(self, lab: Lab, release: Release, limit: float, seed: int) -> Finding:
        if noise := noise_answers(release, self.unless_epsilon, limit):
            return noise
        ((rows, smallest, small),) = lab._store.rows(
            step("6_metrics/_smallest_count"), release_id=release.id, table=self.table, least=limit
        )
        if smallest is None:
            return Finding(limit, "no value above 0 is published, which counts as")
        note = f"{small:,} of {rows:,} counts show less than {limit:,g}" if small else f"all {rows:,} counts"
        return Finding(float(smallest), "the smallest value published is", note=note)


RULE = SmallestCount
