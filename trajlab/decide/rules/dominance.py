"""dominance: whether a few people make up most of a row (the n-k rule)."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING, ClassVar

from trajlab.decide import INFERENCE, SHARE, TABLE, Finding
from trajlab.decide._published import OVER, check_name, rows_behind, truth_of
from trajlab.errors import PolicyError
from trajlab.query import step
from trajlab.settings import whole_number

if TYPE_CHECKING:
    from trajlab.lab import Lab
    from trajlab.release import Release


@dataclass(frozen=True, slots=True)
class Dominance:
    """The largest share of a row that its `largest` contributors make up.

    Over a `slot` everybody contributes one, so it is about small counts. Over the `period` somebody contributes the
    slots that they spend in a cell: a family's own cell is theirs, however many pass through.
    """

    concern: ClassVar[str] = INFERENCE
    about: ClassVar[str] = TABLE
    unit: ClassVar[str] = SHARE
    limit: ClassVar[str] = "at_most"

    largest: int = 2
    over: str = "slot"

    def __post_init__(self) -> None:
        whole_number("largest", self.largest, 1, error=PolicyError)
        check_name("way to add up contributions", self.over, OVER)

    def answer(self, lab: Lab, release: Release, limit: float, seed: int) -> Finding:
        whose = f"the {self.largest} largest contributors of a"
        if self.over == "slot":
            least = floor(self.largest / limit + 1e-9) if limit > 0 else 2**62
            if limit > 0 and self.largest / least > limit + 1e-12:
                least += 1
            rows, fewest, few_rows, people = rows_behind(lab, release, "occupancy", least)
            share = 0.0 if fewest is None else min(1.0, self.largest / fewest)
            return Finding(share, f"{whose} row make up at most", people=people, note=_note(few_rows, rows, "rows"))
        ((cells, found, _, few_cells, people),) = lab._store.rows(
            step("6_metrics/_dominance"), release_id=release.id, truth_id=truth_of(lab, release),
            largest=self.largest, most=limit,
        )  # fmt: skip
        return Finding(
            found or 0.0, f"{whose} cell make up at most", people=people, note=_note(few_cells, cells, "cells")
        )


def _note(few: int, all_of_them: int, noun: str) -> str:
    return f"{few:,} of {all_of_them:,} {noun} are above the limit" if few else f"all {all_of_them:,} {noun}"


RULE = Dominance
