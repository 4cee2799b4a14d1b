"""Which rows hold all of some items, for a whole population of rows at once.

An item is two numbers, major and minor, as one number that sorts by major, then minor. Of the items
known of a row the rarest names the candidates, and each of the others thins them out. Most
candidates fail at the second item. Questions are therefore taken by the major number of their
second item, and a line of what every row holds under that number, small enough for a processor's
cache, answers them; the few that are left are looked up by binary search. Rows of which the same
is known share one answer. To touch fresh memory can cost more than the search itself, so
the sorted keys are the only large array.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

NOTHING = -1
"""Stands for no item, where less is known of a row than of others."""
BLOCK = 1 << 18
"""Candidates looked at in one go: few enough for a processor's cache, enough to forget Python."""
EMPTY, SEVERAL = -1, -2
"""In a line of what every row holds: nothing, and more than one item."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The items of each row: row i has `keys[starts[i]:starts[i + 1]]`, whose low bits are the items."""

    names: Ints
    starts: Ints
    keys: Ints
    bits: int
    width: int
    """An item is major * width + minor."""

    @classmethod
    def of(cls, keys: Ints, bits: int, width: int) -> Rows:
        """Keys that hold the row's name above the low bits and an item in them, in any order; they are sorted here."""
        keys.sort()
        starts = _changes(keys, bits)
        return cls(keys[starts] >> bits, np.append(starts, len(keys)), keys, bits, width)

    @property
    def sizes(self) -> Ints:
        return np.diff(self.starts)

    def numbers(self, names: Ints) -> Ints:
        """Which of the rows each name is; -1 where it has no items."""
        found = np.searchsorted(self.names, names)
        return np.where(np.append(self.names, -1)[found] == names, found, -1)

    def items(self, rows: Ints, numbers: Ints) -> Ints:
        """The items with these numbers (rows × numbers) of each row; NOTHING where the number is -1."""
        at = np.where(numbers >= 0, self.starts[rows][:, None] + numbers, 0)
        return np.where(numbers >= 0, self.keys[at] & _low(self.bits), NOTHING)


class Crowds:
    """Rows to be searched, by the items that they hold.

    Takes over the keys of the rows and leaves them in another order; with `copy` it makes its own.
    """

    def __init__(self, rows: Rows, *, threads: int = 1, copy: bool = False) -> None:
        self._rows, self._threads = rows, threads
        self._all = len(rows.names)
        self._bits = self._all.bit_length()
        self._number = self._numbers()
        self._keys = self._by_item(rows.keys.copy() if copy else rows.keys)
        starts = _changes(self._keys, self._bits)
        # One more item, which no row holds, stands for all that are not there.
        self._items = np.append(self._keys[starts] >> self._bits, 1 << rows.bits)
        self._starts = np.r_[starts, len(self._keys), len(self._keys)]
        self._sizes = np.diff(self._starts)
        self._majors = self._items // max(rows.width, 1)

    def holding_all(self, known: Ints, show: Callable[[int, int], None]) -> Ints:
        """How many rows hold all the items of each row of `known`; NOTHING is held by all that have items."""
        last = np.iinfo(np.int64).max
        number = self._number_of(known)
        rarest_first = np.where(known == NOTHING, last, (self._sizes[number] << 32) | number)
        rarest_first.sort(axis=1)
        blank = rarest_first[:, 0] == last
        wanted = np.where(rarest_first == last, rarest_first[:, :1], rarest_first) & _low(32)
        wanted[blank] = len(self._items) - 1
        wanted, which = _once(wanted)
        k = self._count(wanted, show)[which]
        k[blank] = self._all
        return k

    def known_at_all(self, known: Ints) -> Flags:
        """Whether there is a row for each of the items: where one is missing, no row holds them all."""
        there = np.ones(len(known), dtype=bool)
        for column in known.T:  # most are out after the first
            left = np.flatnonzero(there)
            number = self._number_of(column[left])
            there[left] = (column[left] == NOTHING) | (number < len(self._items) - 1)
        return there

    def includes(self, names: Ints, known: Ints) -> Flags:
        """Whether each of these rows holds all the items of its row of `known`."""
        row = self._rows.numbers(names)
        who = np.append(self._number, 0)[row]
        fits = row >= 0
        for column in known.T:
            fits &= (column == NOTHING) | self._found(who, self._number_of(column))
        return fits

    def _numbers(self) -> Ints:
        """Rows that begin together get neighbouring numbers, so that a line of short ones is short."""
        rows = self._rows
        first = rows.keys[rows.starts[:-1]] & _low(rows.bits)
        number = np.empty(len(first), dtype=np.int64)
        number[np.argsort(first // max(rows.width, 1), kind="stable")] = np.arange(len(first))
        return number

    def _by_item(self, keys: Ints) -> Ints:
        """The same keys with the item in the high bits and the number of the row in the low ones, sorted."""
        starts = self._rows.starts
        cuts = np.unique(np.searchsorted(starts, np.arange(0, len(keys), 4 * BLOCK)))
        for begin, end in zip(cuts, [*cuts[1:], len(starts) - 1], strict=True):
            part = keys[starts[begin] : starts[end]]
            part &= _low(self._rows.bits)
            part <<= self._bits
            part |= np.repeat(self._number[begin:end], np.diff(starts[begin : end + 1]))
        keys.sort()
        return keys

    def _number_of(self, items: Ints) -> Ints:
        number = np.searchsorted(self._items, items)
        return np.where(self._items[number] == items, number, len(self._items) - 1)

    def _count(self, wanted: Ints, show: Callable[[int, int], None]) -> Ints:
        """How many rows hold all the items of each row wanted: the rarest first, by their second."""
        k: Ints = self._sizes[wanted[:, 0]]
        more = np.flatnonzero((wanted != wanted[:, :1]).any(axis=1) & (k > 0))
        majors = self._majors[wanted[more, min(1, wanted.shape[1] - 1)]]
        tasks = np.split(more, 1 + np.flatnonzero(majors[1:] != majors[:-1])) if len(more) else []

        def count(some: list[Ints]) -> None:
            for rows in some:
                k[rows] = self._count_under_one_major(wanted[rows])

        parts = _shares(tasks, [int(k[rows].sum()) for rows in tasks])
        with ThreadPoolExecutor(self._threads) as pool:
            for done, _ in enumerate(pool.map(count, parts), start=1):
                show(done, len(parts))
        return k

    def _count_under_one_major(self, wanted: Ints) -> Ints:
        """The same where the second items all have one major number."""
        low, line = self._line(int(self._majors[wanted[0, 1]]))
        ends = np.cumsum(self._sizes[wanted[:, 0]])
        cuts = np.unique(np.searchsorted(ends, np.arange(0, ends[-1], BLOCK), side="right"))
        counts: Ints = np.concatenate([self._thin_out(block, low, line) for block in np.split(wanted, cuts[1:])])
        return counts

    def _line(self, major: int) -> tuple[int, Ints]:
        """What rows hold under a major number, from the first that holds any to the last, a blank at either end."""
        begin, end = np.searchsorted(self._majors, [major, major + 1])
        who = self._keys[self._starts[begin] : self._starts[end]] & _low(self._bits)
        item = np.repeat(np.arange(begin, end), self._sizes[begin:end])
        low = int(who.min()) - 1
        who -= low
        line = np.full(int(who.max()) + 2, EMPTY)
        line[who] = item
        line[who[line[who] != item]] = SEVERAL
        return low, line

    def _thin_out(self, wanted: Ints, low: int, line: Ints) -> Ints:
        sizes = self._sizes[wanted[:, 0]]
        question = np.repeat(np.arange(len(wanted)), sizes)
        skipped = self._starts[wanted[:, 0]] - np.cumsum(sizes) + sizes
        who = self._keys[np.arange(len(question)) + skipped[question]] & _low(self._bits)
        there = line.take(who - low, mode="clip")
        holds = there == wanted[:, 1][question]
        unsure = np.flatnonzero(there == SEVERAL)
        holds[unsure] = self._found(who[unsure], wanted[question[unsure], 1])
        kept = np.flatnonzero(holds)
        for column in wanted.T[2:]:
            who, question = who[kept], question[kept]
            kept = np.flatnonzero(self._found(who, column[question]))
        return np.bincount(question[kept], minlength=len(wanted))

    def _found(self, who: Ints, items: Ints) -> Flags:
        """Whether each row holds each item, by binary search."""
        sought = (self._items[items] << self._bits) | who
        at = np.searchsorted(self._keys, sought)
        found: Flags = self._keys.take(at, mode="clip") == sought
        return found


def _shares(tasks: list[Ints], candidates: list[int]) -> list[list[Ints]]:
    """The tasks in turn, so many together that a thread has enough to do to be worth waking."""
    parts: list[list[Ints]] = []
    waiting = BLOCK
    for task, size in zip(tasks, candidates, strict=True):
        if waiting + size > BLOCK:
            parts.append([])
            waiting = 0
        parts[-1].append(task)
        waiting += size
    return parts


def _once(wanted: Ints) -> tuple[Ints, Ints]:
    """Distinct rows, in the order of their second item, and which of them each row is."""
    columns = [*wanted.T[1:2], *wanted.T[:1], *wanted.T[2:]]
    code = np.zeros(len(wanted), dtype=np.int64)
    for column in columns:
        distinct, code = np.unique((code << 32) | column, return_inverse=True)
    one_of_each = np.empty(len(distinct), dtype=np.int64)
    one_of_each[code] = np.arange(len(wanted))
    return wanted[one_of_each], code


def _changes(keys: Ints, bits: int) -> Ints:
    """Where the part of sorted keys above the low bits changes, the beginning included."""
    found = [np.zeros(min(len(keys), 1), dtype=np.int64)]
    for begin in range(1, len(keys), 4 * BLOCK):
        high = keys[begin - 1 : begin + 4 * BLOCK] >> bits
        found.append(begin + np.flatnonzero(high[1:] != high[:-1]))
    return np.concatenate(found)


def _low(bits: int) -> int:
    return (1 << bits) - 1
