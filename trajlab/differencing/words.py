"""The sum that reveals a count, in words: `h3:7 871f…: 42 - 30 - 7`."""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trajlab.differencing import sums as kinds
from trajlab.differencing.bounds import NONE, Bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trajlab.differencing.sums import Sums
    from trajlab.differencing.tables import Block

TERMS, MANY = 6, 50
"""Numbers above 0 that a sum is written out with, of how many at most; else their sum is given."""
MINUS = " − "


@dataclass(frozen=True, eq=False)
class Words:
    """Writes down how unknowns follow from sums, with the numbers as they were found in the end."""

    blocks: Sequence[Block]
    sums: Sums
    bounds: Bounds

    def derivation(self, unknown: int) -> str:
        """The sum that both ends of an unknown follow from, or the two sums."""
        below, above = int(self.bounds.low_sum[unknown]), int(self.bounds.high_sum[unknown])
        low, high = int(self.bounds.low[unknown]), int(self.bounds.high[unknown])
        if below == above and below != NONE:
            return self._sum(below, unknown)
        if low == high:
            for number in (below, above):
                if number != NONE and self._is_plain(number, unknown):
                    return self._sum(number, unknown)
        ends = [
            f"{word} {value:,} by {self._sum(number, unknown)}"
            for word, value, number in (("at least", low, below), ("at most", high, above))
            if number != NONE
        ]
        return ", ".join(ends)

    def _is_plain(self, number: int, unknown: int) -> bool:
        """Whether the sum has one value, and so has everything else in it: it is then all that it takes."""
        system = self.sums.system
        terms = system.unknown[system.first[number] : system.first[number + 1]]
        others = terms[terms != unknown]
        exact = (self.bounds.low[others] == self.bounds.high[others]).all()
        return bool(exact) and bool(system.least[number] == system.most[number])

    def _sum(self, number: int, unknown: int) -> str:
        """One sum, solved for the unknown."""
        system = self.sums.system
        terms = slice(system.first[number], system.first[number + 1])
        others = system.unknown[terms][system.unknown[terms] != unknown]
        whole, kind = int(self.sums.whole[number]), int(self.sums.kind[number])
        if whole == unknown:
            return f"{self._numbers(others, ' + ')} in {self._place(others[0]).index_name}"
        parts = others[others != whole]
        if kind == kinds.REST:
            return "the cells that other sums leave of the people in the slot"
        if kind == kinds.TOTAL:
            least, most = int(system.least[number]), int(system.most[number])
            head = f"{_span(least, most)} people in the slot"
        else:
            head = f"{self._name(whole)}{' over the longer slot' * (kind == kinds.LONGER)}: {self._number(whole)}"
        minus = self._numbers(parts, MINUS)
        return f"{head}{MINUS}{minus}" if minus else head

    def _numbers(self, unknowns: np.ndarray, between: str) -> str:
        low, high = self.bounds.low[unknowns].tolist(), self.bounds.high[unknowns].tolist()
        spans = [_span(a, b) for a, b in zip(low, high, strict=True) if b > 0] if len(low) <= MANY else None
        if spans is not None and len(spans) <= TERMS:
            return between.join(spans) or ("0" if between != MINUS else "")
        return f"{_span(sum(low), sum(high))} in {sum(b > 0 for b in high):,} others"

    def _number(self, unknown: int) -> str:
        return _span(int(self.bounds.low[unknown]), int(self.bounds.high[unknown]))

    def _block(self, unknown: int) -> int:
        return bisect.bisect_right(self.sums.offsets, unknown) - 1

    def _place(self, unknown: int) -> Block:
        return self.blocks[self._block(unknown)]

    def _name(self, unknown: int) -> str:
        block = self._place(unknown)
        return block.name((unknown - int(self.sums.offsets[self._block(unknown)])) % block.columns)


def _span(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"({low:,} to {high:,})"
