"""The fewest items of one list that no other list holds together.

An exact search by growing size. Of every item there is a row of bits, one for each other
list that holds it; a set of items singles the list out when the rows have no
bit in common. Sets are tried in the order of their items, so the first one found is the earliest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trajlab.errors import RiskError

Ints = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint64]


class TooManyError(RiskError):
    """More beginnings of sets would have to be looked at than were allowed."""


def smallest_set(item: Ints, other: Ints, items: int, most: int, limit: int) -> list[int] | None:
    """The smallest set of items, of which there are `items`, that none of the others holds; None where none does it.

    `item` and `other` are pairs: which of the items which other one holds, others numbered from 0. Among equally
    small sets it is the one whose items are earliest, the first one first. Raises `TooManyError` where that cannot
    be known from `limit` beginnings of sets.
    """
    shared = np.bincount(other)
    twins = np.unique(_bits(item, other, items), axis=0, return_index=True)[1]
    earliest = np.sort(twins)  # a later item with the same others adds nothing to the first of them
    for size in range(1, min(most, len(earliest)) + 1):
        close = shared[other] >= size  # whoever shares fewer items cannot hold so many
        found = _first(_bits(item[close], other[close], items)[earliest], size, _Work(size, limit))
        if found is not None:
            return [int(earliest[number]) for number in found]
    return None


def _bits(item: Ints, other: Ints, items: int) -> Bits:
    """Items × others, 64 others to a word."""
    column = np.unique(other, return_inverse=True)[1].astype(np.int64)
    bits = np.zeros((items, int(column.max(initial=0)) // 64 + 1), dtype=np.uint64)
    np.bitwise_or.at(bits, (item, column >> 6), np.uint64(1) << (column & 63).astype(np.uint64))
    return bits


@dataclass(slots=True)
class _Work:
    """How many beginnings of sets of a size may still be looked at."""

    size: int
    left: int

    def spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise TooManyError(
                f"no set of up to {self.size - 1} points is enough, and there are too many of {self.size} to look at"
            )


def _first(bits: Bits, size: int, work: _Work) -> list[int] | None:
    """The first `size` rows, in the order of rows, that have no bit in common."""
    if size == 1:
        clear = np.flatnonzero(~bits.any(axis=1))
        return [int(clear[0])] if len(clear) else None
    in_all_from = np.bitwise_and.accumulate(bits[::-1])[::-1]
    for row in range(len(bits) - size + 1):
        if in_all_from[row].any():
            return None  # one of the others holds this item and all later ones
        work.spend()
        words = np.flatnonzero(bits[row])
        alive = bits[row, words]
        later = bits[row + 1 :, words] & alive
        remaining = int(np.bitwise_count(alive).sum())
        fewest = np.sort(np.bitwise_count(later).sum(axis=1, dtype=np.int64))[: size - 1]
        if (remaining - fewest).sum() < remaining:
            continue  # even the items that shed most, were they to shed different ones, leave one
        found = _first(later, size - 1, work)
        if found is not None:
            return [row, *(row + 1 + number for number in found)]
    return None
