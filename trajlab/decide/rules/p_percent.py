"""p_percent: whether the second largest contributor could work out the largest one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trajlab.decide import INFERENCE, NUMBER, TABLE, Finding
from trajlab.decide._published import OVER, check_name, rows_behind, truth_of
from trajlab.query import step

if TYPE_CHECKING:
    from trajlab.lab import Lab
    from trajlab.release import Release


@dataclass(frozen=True, slots=True)
class PPercent:
    """What a row holds beyond its two largest contributors, by the largest contribution: the smallest of all rows.

    The second largest contributor subtracts their own part; where the rest is small, the difference is the largest
    one's. Over a `slot` everybody contributes one; over the `period` the slots that they spend in a cell.
    """

    concern: ClassVar[str] = INFERENCE
    about: ClassVar[str] = TABLE
    unit: ClassVar[str] = NUMBER
    limit: ClassVar[str] = "at_least"

    over: str = "slot"

    def __post_init__(self) -> None:
        check_name("way to add up contributions", self.over, OVER)

    def answer(self, lab: Lab, release: Release, limit: float, seed: int) -> Finding:
        if self.over == "slot":
            rows, fewest, few_rows, people = rows_behind(lab, release, "occupancy", _least(limit))
            rest = limit if fewest is None else float(max(fewest - 2, 0))
            note = f"{few_rows:,} of {rows:,} rows have less" if few_rows else f"all {rows:,} rows"
            return Finding(rest, "beyond its two largest contributors a row has", people=people, note=note)
        ((cells, _, rest, _, _),) = lab._store.rows(
            step("6_metrics/_dominance"), release_id=release.id, truth_id=truth_of(lab, release), largest=2, most=1.0
        )
        return Finding(
            limit if rest is None else rest,
            "beyond its two largest contributors a cell has, by the largest,",
            note=f"the smallest of {cells:,} cells",
        )


def _least(limit: float) -> int:
    """People that a row of equal contributions needs to have the remainder."""
    return int(2 - (-limit // 1))


RULE = PPercent
