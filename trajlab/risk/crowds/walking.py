"""Every combination of a list's elements, and how many lists fit it, without a pass for each.

All lists are extended together, one element at a time, to every combination that they
contain; a combination is a number, and how many lists fit it is how often the number occurs.
A beginning that only one list has needs no extension: whatever else is known, it is
that one, and how many combinations begin like this is a product of binomials. Beginnings that
no list looked for has are dropped. So each combination is counted once, however many share it,
and most are never written down.

Three lists `a b`, `a c`, `a a c` and two elements known: c is rarer than a, and b rarest. `b ...` is
alone at once. `c a` fits two, `a a` fits one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from trajlab.errors import RiskError
from trajlab.risk.crowds.fitting import Fit, fitting
from trajlab.risk.crowds.lists import Bools, Ints, Lists
from trajlab.risk.crowds.states import BLOCK, States, blocks, longer, pieces, single

DENSE = 8
"""Numbers of combinations are counted in a table while it has at most so many entries for each combination."""
NONE = np.iinfo(np.int64).max
WORK = 300_000_000
"""Combinations looked at in all for lists with more than the limit, before giving up."""


class TooMuchWorkError(RiskError):
    """More than `WORK` combinations would have to be looked at."""


@dataclass(slots=True)
class Walk:
    """A search of all combinations of `most` elements (of all elements for lists that have fewer)."""

    known: Lists
    searched: Lists
    items: int
    most: int
    ordered: bool
    fit: Fit | None
    own: Ints | None
    """Each list's own one among those searched, -1 for none; None where the lists themselves are searched."""
    choose: Ints
    """Binomials: elements down, taken across."""
    size: Ints = field(init=False)
    best: Ints = field(init=False)
    """Fewest lists that fit a combination which the list's own fits as well; NONE before there is one."""
    least: Ints = field(init=False)
    """Fewest lists that fit any combination."""
    floor: Ints = field(init=False)
    """No combination can leave fewer lists than this, the own one among them."""
    alone: Ints = field(init=False)
    """How many combinations the own list alone fits."""
    seen: list[tuple[Ints, Ints]] = field(default_factory=list)
    """The list and how many fit, as one number, and how many combinations: see `sums`."""
    work: int = 0
    """Combinations looked at while bounded."""
    bounded: bool = False
    """Whether only the maximum is looked for, and work is limited."""
    begins: Bools | None = None
    """Items that a combination may begin with, where only those are asked for."""
    beam: int | None = None
    """Extend only so many beginnings of a list, those that fewest others have."""

    def __post_init__(self) -> None:
        self.size = np.minimum(self.known.elements, self.most)
        self.best, self.least = np.full((2, len(self.size)), NONE)
        self.floor, self.alone = np.ones_like(self.size), np.zeros_like(self.size)

    def over(self, lists: Ints) -> None:
        """Look at every combination of these lists."""
        wanted = np.zeros(len(self.size), bool)
        wanted[lists] = True
        mine = single(self.known).only(wanted[self.known.owner])
        theirs = single(self.searched)
        if self.ordered:
            theirs = theirs.only(self.searched.before < 0)
        if self.begins is not None:
            mine, theirs = mine.only(self.begins[mine.number]), theirs.only(self.begins[theirs.number])
        self._on(*self._settle(mine, theirs, 1, self.items), 1)

    def _on(self, mine: States, theirs: States, level: int) -> None:
        for some, others, numbers in blocks(mine, theirs, self.known, self.searched):
            some = some if not self.bounded else some.only(~self._over_with(some.who))
            if not len(some):
                continue
            if numbers == 1 and level + 1 == self.most and self.fit is None and self.own is None:
                self._last(some, others)
                continue
            ours = longer(some, self.known, self.items)
            found = longer(others, self.searched, self.items, leftmost=self.ordered)
            self._spend(len(ours))
            self._on(*self._settle(ours, found, level + 1, numbers * self.items), level + 1)

    def _last(self, mine: States, theirs: States) -> None:
        """The last element after one beginning, which may be that of every list: counted piece by piece."""
        counts = np.zeros(self.items, np.int64)
        for piece in pieces(theirs, self.searched):
            found = longer(piece, self.searched, self.items, leftmost=self.ordered)
            counts += np.bincount(found.number, minlength=self.items)
        for piece in pieces(mine, self.known):
            ours = longer(piece, self.known, self.items)
            self._spend(len(ours))
            self._record(ours.who, counts[ours.number], np.ones(len(ours), bool), ours.ways)

    def _settle(self, mine: States, theirs: States, level: int, space: int) -> tuple[States, States]:
        """Count who fits; keep what is to be extended, with those who fit it."""
        left = self.size[mine.who] - level
        ways = self._completions(mine, left)
        mine, left, ways = mine.only(ways > 0), left[ways > 0], ways[ways > 0]
        last = level == self.most and self.fit is None and self.own is None
        counts, number, of = _number_counts(theirs.number, mine.number, space, only_count=last)
        k = counts[number]
        ok = self._own_fits(mine, theirs, number, of)
        done = left == 0
        if self.fit is not None:
            exact = done & (k > 0)
            k[exact], ok[exact] = fitting(
                self.fit, mine.only(exact).path, number[exact], theirs.path, of,
                self.known.value, self.searched.value, theirs.who, self._own(mine.who[exact]),
            )  # fmt: skip
        closed = done | (k == 0) | (k == 1) & (self.own is None)
        self._record(mine.who[closed], k[closed], ok[closed], ways[closed])
        alive = ~closed & (ok | ((self.least[mine.who] != 0) & (self.best[mine.who] == NONE)))
        if self.bounded:
            alive &= ~self._over_with(mine.who)
        if self.beam is not None:
            alive = _rarest(mine.who, k, alive, self.beam)
        if not alive.any():
            return mine.only(alive), theirs.only(slice(0))
        wanted = np.zeros(len(counts), bool)
        wanted[number[alive]] = True
        renumbered = np.cumsum(wanted) - 1
        mine, theirs = mine.only(alive), theirs.only(kept := wanted[of])
        mine.number[:], theirs.number[:] = renumbered[number[alive]], renumbered[of[kept]]
        return mine.only(np.argsort(mine.number, kind="stable")), theirs.only(np.argsort(theirs.number, kind="stable"))

    def _completions(self, states: States, left: Ints) -> Ints:
        """In how many ways the list's elements make a whole combination that begins like this."""
        size, after = self.known.size[states.group], self.known.after[states.group]
        ways, total = states.ways.copy(), np.zeros(len(states), np.int64)
        for more in range(int(left.max(initial=0)) + 1):
            fits = left >= more
            total[fits] += ways[fits] * self.choose[after[fits], left[fits] - more]
            ways = ways * np.maximum(size - states.taken - more, 0) // (states.taken + more + 1)
        return total

    def _own(self, who: Ints) -> Ints | None:
        return None if self.own is None else self.own[who]

    def _own_fits(self, mine: States, theirs: States, number: Ints, of: Ints) -> Bools:
        if self.own is None:
            return np.ones(len(mine), bool)
        lists = len(self.searched.first)
        return np.isin(number * lists + self.own[mine.who], of * lists + theirs.who) & (self.own[mine.who] >= 0)

    def _record(self, who: Ints, k: Ints, ok: Bools, ways: Ints) -> None:
        np.minimum.at(self.best, who[ok], k[ok])
        np.minimum.at(self.least, who, k)
        if not self.bounded:
            lists = len(self.searched.first)
            alone, among = ok & (k == 1), ok & (k > 1)
            np.add.at(self.alone, who[alone], ways[alone])
            self.seen.append(_sum_ways(who[among] * (lists + 1) + k[among], ways[among]))
            if sum(len(keys) for keys, _ in self.seen[1:]) > BLOCK:
                self.seen = [_sum_ways(*(np.concatenate(column) for column in zip(*self.seen, strict=True)))]

    def sums(self) -> tuple[Ints, Ints, Ints]:
        """The list, how many fit if several, how many combinations: with `alone`, what the mean is made of."""
        nothing = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
        keys, ways = _sum_ways(*(np.concatenate(column) for column in zip(*(self.seen or nothing), strict=True)))
        return *np.divmod(keys, len(self.searched.first) + 1), ways

    def _over_with(self, who: Ints) -> Bools:
        """Whether nothing better can be found for them."""
        return self.best[who] <= self.floor[who]

    def _spend(self, rows: int) -> None:
        self.work += rows if self.bounded else 0
        if self.work > WORK:
            raise TooMuchWorkError(f"more than {WORK:,} combinations have to be looked at")


def _sum_ways(keys: Ints, ways: Ints) -> tuple[Ints, Ints]:
    """The different keys in order, and the sum of the ways of each."""
    different, which = np.unique(keys, return_inverse=True)
    total = np.zeros(len(different), np.int64)
    np.add.at(total, which, ways)
    return different, total


def _number_counts(theirs: Ints, mine: Ints, space: int, *, only_count: bool) -> tuple[Ints, Ints, Ints]:
    """How often each number occurs among `theirs`, and where the counts of mine and (if wanted) of theirs are."""
    if space <= DENSE * (len(theirs) + len(mine)) + 1024:
        return np.bincount(theirs, minlength=space), mine, theirs
    if only_count:  # sorting alone is much faster than knowing where everything went
        (numbers, counts), of = np.unique(theirs, return_counts=True), theirs[:0]
    else:
        numbers, of, counts = np.unique(theirs, return_inverse=True, return_counts=True)
    at = np.searchsorted(numbers, mine)
    numbers, counts = np.append(numbers, -1), np.append(counts, 0)
    return counts, np.where(numbers[at] == mine, at, len(numbers) - 1), of


def _rarest(who: Ints, k: Ints, alive: Bools, most: int) -> Bools:
    rows = np.flatnonzero(alive)
    rows = rows[np.lexsort((k[rows], who[rows]))]
    rank = np.arange(len(rows)) - np.searchsorted(who[rows], who[rows])
    kept = np.zeros(len(who), bool)
    kept[rows[rank < most]] = True
    return kept
