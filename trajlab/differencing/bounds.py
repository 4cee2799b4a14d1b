"""How far unknown whole numbers are fixed by sums of them: bounds that follow from one sum after the other.

An unknown lies between `low` and `high`; a sum, each term with a sign, lies between `least` and `most`. What the other
terms of a sum can be at least and at most bounds each term. This is repeated until nothing changes. Where sums
do not meet each other in a circle, the bounds are the best that there are; `programme` is for the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

NONE = -1
"""In place of a sum: the bound was given."""
UNBOUNDED = 2**60
"""A sum that may be anything, without overflow."""
ROUNDS = 200


class ContradictionError(ValueError):
    """No numbers satisfy the sums; `unknown` is one that has nothing left to be."""

    def __init__(self, unknown: int) -> None:
        super().__init__(f"unknown {unknown} has no value left")
        self.unknown = unknown


@dataclass(frozen=True, eq=False)
class System:
    """Sums over unknowns: terms in the order of their sums, `first[i]:first[i + 1]` those of the i-th."""

    first: Ints
    unknown: Numbers
    sign: npt.NDArray[np.int8]
    least: Ints
    most: Ints

    def __post_init__(self) -> None:
        if not (np.diff(self.first) > 0).all():
            raise ValueError("a sum needs a term")

    @property
    def sums(self) -> int:
        return len(self.least)

    def sum_of_term(self) -> Numbers:
        return np.repeat(np.arange(self.sums, dtype=np.int32), np.diff(self.first))

    def chosen(self, sums: npt.NDArray[np.integer]) -> System:
        """The same unknowns under some of the sums."""
        lengths = np.diff(self.first)[sums]
        terms = _ranges(self.first[sums], lengths)
        first = np.concatenate([[0], np.cumsum(lengths)])
        return System(first, self.unknown[terms], self.sign[terms], self.least[sums], self.most[sums])

    def values(self, of: Ints) -> Ints:
        """The value of every sum."""
        if not self.sums:
            return np.zeros(0, dtype=np.int64)
        return np.add.reduceat(of[self.unknown] * self.sign, self.first[:-1])


@dataclass(frozen=True, eq=False)
class Bounds:
    """What is left of every unknown, and the sum by which each end was found last (NONE where it was given).

    `settled` says that nothing changed any more when propagation ended.
    """

    low: Ints
    high: Ints
    low_sum: Numbers
    high_sum: Numbers
    settled: bool = True


def propagate(system: System, low: Ints, high: Ints, *, rounds: int = ROUNDS) -> Bounds:
    """Bounds that follow from one sum at a time, again and again; ContradictionError where nothing is left."""
    low, high = low.copy(), high.copy()
    low_sum, high_sum = (np.full(len(low), NONE, dtype=np.int32) for _ in range(2))
    _refuse_empty(low, high, np.arange(len(low)))
    todo = np.arange(system.sums)
    for _ in range(rounds):
        if not len(todo):
            return Bounds(low, high, low_sum, high_sum)
        part = system if len(todo) == system.sums else system.chosen(todo)
        changed = _tighten(part, todo, low, high, low_sum, high_sum)
        _refuse_empty(low, high, changed)
        touched = np.zeros(len(low), dtype=bool)
        touched[changed] = True
        todo = np.flatnonzero(np.logical_or.reduceat(touched[system.unknown], system.first[:-1]))
    return Bounds(low, high, low_sum, high_sum, settled=not len(todo))


def is_idle(system: System, low: Ints, high: Ints) -> Mask:
    """Which sums hold whatever the unknowns are within their bounds: they say nothing more."""
    lowest, highest = _extremes(system, low, high)
    return (_sum(lowest, system) >= system.least) & (_sum(highest, system) <= system.most)


def _tighten(
    part: System, numbers: Ints, low: Ints, high: Ints, low_sum: Numbers, high_sum: Numbers
) -> npt.NDArray[np.intp]:
    """One round over some sums; the unknowns that changed."""
    lowest, highest = _extremes(part, low, high)
    of_term = part.sum_of_term()
    at_most = (part.most - _sum(lowest, part))[of_term] + lowest
    at_least = (part.least - _sum(highest, part))[of_term] + highest
    positive = part.sign > 0
    new_low, new_high = np.where(positive, at_least, -at_most), np.where(positive, at_most, -at_least)
    changed = []
    for new, bound, found_by, better in ((new_low, low, low_sum, np.greater), (new_high, high, high_sum, np.less)):
        terms = np.flatnonzero(better(new, bound[part.unknown]))
        if not len(terms):
            continue
        # The best of several bounds comes last among those of its unknown, and so is the one that stays.
        order = np.lexsort((-of_term[terms], new[terms] if better is np.greater else -new[terms]))
        terms = terms[order]
        unknown = part.unknown[terms]
        bound[unknown] = new[terms]
        found_by[unknown] = numbers[of_term[terms]]
        changed.append(unknown)
    return np.unique(np.concatenate(changed)).astype(np.intp) if changed else np.zeros(0, dtype=np.intp)


def _extremes(system: System, low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """The least and the most that every term can be."""
    positive = system.sign > 0
    lows, highs = low[system.unknown], high[system.unknown]
    return np.where(positive, lows, -highs), np.where(positive, highs, -lows)


def _sum(terms: Ints, system: System) -> Ints:
    sums: Ints = np.add.reduceat(terms, system.first[:-1]) if system.sums else np.zeros(0, dtype=np.int64)
    return sums


def _refuse_empty(low: Ints, high: Ints, which: npt.NDArray[np.intp]) -> None:
    empty = which[low[which] > high[which]]
    if len(empty):
        raise ContradictionError(int(empty[0]))


def _ranges(starts: Ints, lengths: Ints) -> Ints:
    """start, start + 1 … for each start and length, one after the other."""
    ends = np.cumsum(lengths)
    places: Ints = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)
    return places
