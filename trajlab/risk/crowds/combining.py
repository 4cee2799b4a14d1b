"""Some elements of a list, whichever they are: how many lists fit the worst combination, and the mean over all.

The risk of a list is the maximum over all combinations of `most` of its elements of 1 / lists that
fit; lists with fewer elements are known entirely. Elements are rows of a frame: `holder` the list,
`at` their order, `key` and `label` what they are, `n` how many equal ones, `value` what has to fit, or null.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from trajlab.errors import RiskError
from trajlab.risk.crowds.fitting import Fit
from trajlab.risk.crowds.lists import Bools, Floats, Ints, Lists, build_lists, number_items
from trajlab.risk.crowds.walking import NONE, Walk

LIMIT = 100_000
"""Different combinations of a list up to which all are looked at and the mean is given."""
BEAM = 32
"""Beginnings of combinations that a first search for the maximum extends, per list."""
AT_ONCE = 500
"""Lists above the limit that are searched together."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Lists looked for, lists searched, and which of the latter is each one's own."""

    known: Lists
    searched: Lists
    items: int
    own: Ints | None
    """None where the lists themselves are searched."""
    ordered: bool
    fit: Fit | None

    @property
    def longest(self) -> int:
        """Elements of the longest list looked for."""
        return int(self.known.elements.max(initial=0))


def build_problem(
    frames: list[pl.DataFrame], wanted: pl.DataFrame, holders: pl.Series, *, ordered: bool = False, fit: Fit | None
) -> Problem:
    """The lists `wanted` (holder, own) among those of all `holders`.

    `frames` are the elements of the lists searched and, unless the lists themselves are searched, of those
    looked for; it is emptied, so that they need not be in memory twice. `ordered`: elements have
    to fit in the order of `at`, then `key`.
    """
    themselves = len(frames) == 1
    if fit is not None and fit.exact:  # an item with a value is then an element like any other
        frames[:] = [frame.with_columns(label="value", value=pl.lit(None, pl.Float64)) for frame in frames]
        fit = None
    numbered, items = number_items(frames)
    frames.clear()
    theirs = build_lists(numbered[0], holders, ordered=ordered)
    everything = themselves and len(wanted) == len(holders)
    mine = theirs if everything else build_lists(numbered[-1], wanted["holder"], ordered=ordered)
    return Problem(mine, theirs, items, None if themselves else _own(wanted, holders), ordered, fit)


def solve(problem: Problem, most: int, limit: int, show: Callable[[int, int], None]) -> pl.DataFrame:
    """A row for each list looked for: known, k, found, pick_chance, mean_pick_chance, combinations.

    `k` lists fit its worst combination, `found` says whether its own is one of them. The mean is null where a
    list has more than `limit` different combinations.
    """
    walk = Walk(
        problem.known,
        problem.searched,
        problem.items,
        most,
        problem.ordered,
        problem.fit,
        problem.own,
        binomials(problem.longest, most),
    )
    over = choices(problem.known, walk.size, most) > limit
    walk_all(walk, over, show)
    combinations = walk.choose[walk.known.elements, walk.size]
    own = np.ones(len(walk.size), bool) if walk.own is None else walk.own >= 0
    found = Found(walk.best, walk.least, sums(walk))
    return results(found, walk.size, combinations, over, own, len(walk.searched.first) - 1)


@dataclass(frozen=True, slots=True)
class Found:
    """Of each list: fewest that fit with its own, fewest that fit, and the sum of 1 / lists over combinations."""

    best: Ints
    least: Ints
    total: Floats


def walk_all(walk: Walk, over: Bools, show: Callable[[int, int], None]) -> None:
    """Look at every combination of the lists that are not `over` the limit, and for the worst of the others."""
    walk.over(np.flatnonzero(~over))
    _maximum(walk, np.flatnonzero(over), show)


def _maximum(walk: Walk, lists: Ints, show: Callable[[int, int], None]) -> None:
    """The worst combination alone: the rarest beginnings first, and the rest only while it can be worse."""
    if not len(lists):
        return
    walk.bounded = True
    if walk.own is None and walk.fit is None and not walk.ordered:
        walk.floor[lists] = _same_everything(walk.known, walk.searched, lists)
    for begin in range(0, len(lists), AT_ONCE):
        some = lists[begin : begin + AT_ONCE]
        for walk.beam in (BEAM, None):
            walk.over(some[walk.best[some] > walk.floor[some]])
        show(begin + len(some), len(lists))


def _same_everything(known: Lists, searched: Lists, lists: Ints) -> Ints:
    """How many lists have all that the list has: no combination of it leaves fewer."""
    groups = int(max(known.item.max(initial=0), searched.item.max(initial=0))) + 1
    there = searched.owner * groups + searched.item  # sorted: a list's items are
    by_item = np.argsort(searched.item, kind="stable")
    begin, stop = (
        np.searchsorted(searched.item[by_item], known.item[known.first[lists]], side=side) for side in ("left", "right")
    )
    who = np.repeat(np.arange(len(lists)), stop - begin)
    other = searched.owner[by_item[np.repeat(begin, stop - begin) + _steps(stop - begin)]]
    length = np.diff(known.first)[lists]
    for step in range(int(length.max(initial=0))):
        longer = np.flatnonzero(length[who] > step)
        group = known.first[lists][who[longer]] + step
        at = np.minimum(np.searchsorted(there, other[longer] * groups + known.item[group]), len(there) - 1)
        has = (there[at] == other[longer] * groups + known.item[group]) & (searched.size[at] >= known.size[group])
        kept = np.ones(len(who), bool)
        kept[longer] = has
        who, other = who[kept], other[kept]
    return np.bincount(who, minlength=len(lists))


def _steps(counts: Ints) -> Ints:
    return np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)


def _own(wanted: pl.DataFrame, holders: pl.Series) -> Ints:
    numbers = pl.DataFrame({"holder": holders}).with_row_index("number")
    found = wanted.join(numbers, left_on="own", right_on="holder", how="left", maintain_order="left")
    return found["number"].cast(pl.Int64).fill_null(-1).to_numpy()


def binomials(elements: int, most: int) -> Ints:
    """How many ways there are to take up to `most` of up to `elements`."""
    largest = math.comb(elements, min(most, elements // 2))
    if largest * max(most, 1) >= 2**62:
        raise RiskError(
            f"whoever has {elements:,} elements has more than 10^18 combinations of {most:,}: ask for fewer"
        )
    table = np.zeros((elements + 1, most + 1), np.int64)
    table[:, 0] = 1
    for taken in range(1, most + 1):
        table[1:, taken] = np.cumsum(table[:-1, taken - 1])
    return table


def choices(mine: Lists, size: Ints, most: int) -> Floats:
    """How many different combinations each list has, equal elements being the same."""
    ways = np.zeros((len(size), most + 1))
    ways[:, 0] = 1
    length = np.diff(mine.first)
    for step in range(int(length.max(initial=0))):
        rows = np.flatnonzero(length > step)
        equal = mine.size[mine.first[rows] + step]
        shorter = ways[rows]
        for more in range(1, most + 1):
            ways[rows, more:] += np.where((equal >= more)[:, None], shorter[:, : most + 1 - more], 0)
    return ways[np.arange(len(size)), size]


def results(lists: Found, size: Ints, combinations: Ints, over: Bools, own: Bools, searched: int) -> pl.DataFrame:
    """One row a list; a list without elements fits all that are `searched`, its `own` where there is one."""
    nothing = size == 0
    found = np.where(nothing, own, lists.best < NONE)
    k = np.where(nothing, searched, np.where(found, lists.best, lists.least))
    chance = np.where(found, 1 / np.maximum(k, 1), 0.0)
    mean = np.where(nothing, chance, lists.total / combinations)
    return pl.DataFrame(
        {
            "known": pl.Series(size, dtype=pl.Int32),
            "k": k,
            "found": found,
            "pick_chance": chance,
            "mean_pick_chance": pl.Series(mean).set(pl.Series(over), None),
            "combinations": combinations,
        }
    )


def sums(walk: Walk) -> Floats:
    """Sums of ways / k, added in the order of k so that the names of items cannot change a digit."""
    who, k, ways = walk.sums()
    total: Floats = walk.alone.astype(np.float64) + np.bincount(who, ways / k, minlength=len(walk.alone))
    return total
