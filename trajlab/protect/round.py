"""Rounding: counts are told as multiples of a base, so that one person more or less is seldom seen.

With `round:5`, 7 people are told as 5 and 8 as 10. `round:5:controlled` lets the table add up: the counts 7, 7 and 7 of
a slot are 21 people together, told as 20, so one of them is told as 10 and two as 5.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from trajlab.errors import ProtectionError
from trajlab.protect import Table

if TYPE_CHECKING:
    import numpy.typing as npt

    from trajlab.release.known import Known

_MOST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Round:
    """Tell counts as multiples of `base`: the nearest, and halfway the larger; with `controlled`, so that they add up.

    Controlled, the counts of a slot add up to their total rounded, and each is one of its two neighbours: those
    furthest above the lower one are told as the upper, the larger count and then the smaller cell first among equals.
    What is told as 0 is not listed, unless noise lists every cell.
    """

    protects: ClassVar[str] = "counts"
    only_removes: ClassVar[bool] = False
    keeps_totals: ClassVar[bool] = False

    base: str
    controlled: str = ""

    def __post_init__(self) -> None:
        if not (self.base.isascii() and self.base.isdigit() and 2 <= int(self.base) <= _MOST):
            raise ProtectionError(f"round needs a whole number to round to, 2 or more, not {self.base!r}")
        if self.controlled not in ("", "controlled"):
            raise ProtectionError(f"round:{self.base}:{self.controlled} is not understood: write round:5:controlled")
        object.__setattr__(self, "base", str(int(self.base)))

    def apply(self, counts: pl.DataFrame, table: Table, rng: np.random.Generator) -> pl.DataFrame:
        keys = [name for name in counts.columns if name not in ("people", "contributors")]
        counts = counts.sort(keys)
        base, people = int(self.base), pl.col("people")
        if not self.controlled:
            told = _nearest(people, base)
        else:
            lower = people // base * base
            raised = (_nearest(people.sum().over("slot"), base) - lower.sum().over("slot")) // base
            furthest_first = {"slot": False, "above": True, "people": True} | dict.fromkeys(keys[1:], False)
            counts = counts.with_columns(above=people - lower).sort(
                list(furthest_first), descending=list(furthest_first.values())
            )
            place = pl.int_range(1, pl.len() + 1).over("slot")
            told = lower + base * (place <= raised).cast(pl.Int64)
        told_as = counts.with_columns(people=told).select(*keys, "people", "contributors").sort(keys)
        return told_as.filter((people != 0) | pl.col("contributors").is_null())

    def undo(self, known: Known, listed: npt.NDArray[np.bool_], slots_per_day: int) -> Known:
        base = int(self.base)
        below, above = (base - 1, base - 1) if self.controlled else (base // 2, (base - 1) // 2)
        return replace(known, low=np.maximum(known.low - below, 0), high=np.maximum(known.high + above, 0))


def _nearest(number: pl.Expr, base: int) -> pl.Expr:
    return (2 * number + base) // (2 * base) * base


PROTECTION = Round
