"""Where sums meet each other in circles: bounds by linear programming, one group of unknowns after the other.

Unknowns that are fixed and sums that say nothing more are left out; what is left falls into groups that share no sum.
In a group without a circle, propagation has found the best bounds already. In the others the least and the most of
an unknown are two linear programmes (HiGHS), in whole numbers where that makes a difference and the group is small.

Most unknowns turn out to be wide open long before both programmes are solved: every solution in whole numbers says
what an unknown can be. Once two solutions are `enough` apart, the unknown is not asked about any more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from trajlab.differencing.bounds import UNBOUNDED, Bounds, Ints, Mask, Numbers, System, is_idle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LARGEST = 2500
"""Open unknowns of a group beyond which propagation is all that is done."""
BUDGET = 150_000
"""Open unknowns of all groups together that are solved, the smallest groups first."""
WHOLE = 60
"""Open unknowns of a group up to which solutions that are no whole numbers are solved again in whole numbers."""
FEW = 16
"""Unknowns of a group beyond which solutions for many at once are looked for before one is asked about by itself."""


@dataclass(frozen=True, eq=False)
class Solved:
    """Bounds after the programmes, which of them are from there, and which groups were too large for it."""

    bounds: Bounds
    by_programme: Mask
    too_large: Mask


def solve(
    system: System,
    bounds: Bounds,
    wanted: Mask,
    *,
    enough: int | None = None,
    show: Callable[[int, int], None] | None = None,
) -> Solved:
    """The best bounds of the wanted unknowns; with `enough`, only of those that are less than that apart."""
    low, high = bounds.low.copy(), bounds.high.copy()
    by_programme, too_large = np.zeros(len(low), dtype=bool), np.zeros(len(low), dtype=bool)
    groups = sorted(_circles(system, bounds), key=lambda group: (len(group[0]), group[0][0]))
    spent = 0
    for number, (unknowns, sums) in enumerate(groups):
        if not wanted[unknowns].any():
            continue
        spent += len(unknowns)
        if len(unknowns) > LARGEST or spent > BUDGET:
            too_large[unknowns] = True
            continue
        group = _Group(system.chosen(sums), unknowns, bounds)
        found_low, found_high = group.extremes(wanted[unknowns], enough)
        by_programme[unknowns] |= (found_low > low[unknowns]) | (found_high < high[unknowns])
        low[unknowns], high[unknowns] = found_low, found_high
        if show is not None:
            show(number + 1, len(groups))
    return Solved(replace(bounds, low=low, high=high), by_programme, too_large)


def _circles(system: System, bounds: Bounds) -> Iterator[tuple[Numbers, Numbers]]:
    """Groups of open unknowns and the sums between them, where these meet in a circle or bounds were not settled."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not system.sums:
        return
    is_open = bounds.low < bounds.high
    active = ~is_idle(system, bounds.low, bounds.high)
    of_term = system.sum_of_term()
    terms = np.flatnonzero(is_open[system.unknown] & active[of_term])
    if not len(terms):
        return
    unknowns, column = np.unique(system.unknown[terms], return_inverse=True)
    sums, row = np.unique(of_term[terms], return_inverse=True)
    size = len(unknowns) + len(sums)
    graph = coo_array((np.ones(len(terms), dtype=np.int8), (column, len(unknowns) + row)), shape=(size, size))
    count, label = connected_components(graph, directed=False)
    nodes = np.bincount(label, minlength=count)
    edges = np.bincount(label[column], minlength=count)
    wanted = edges > nodes - 1 if bounds.settled else np.ones(count, dtype=bool)
    for members in _members(label, wanted):
        yield unknowns[members[members < len(unknowns)]], sums[members[members >= len(unknowns)] - len(unknowns)]


def _members(label: npt.NDArray[np.int32], wanted: Mask) -> Iterator[npt.NDArray[np.intp]]:
    order = np.argsort(label, kind="stable")
    ends = np.searchsorted(label[order], np.arange(len(wanted) + 1))
    for each in np.flatnonzero(wanted):
        yield order[ends[each] : ends[each + 1]]


class _Group:
    """One group of unknowns: programmes over it, and what its solutions so far have shown that unknowns can be."""

    def __init__(self, system: System, unknowns: Numbers, bounds: Bounds) -> None:
        from scipy.sparse import csr_array

        self.low, self.high = bounds.low[unknowns], bounds.high[unknowns]
        place = np.searchsorted(unknowns, system.unknown)
        inside = (place < len(unknowns)) & (unknowns[np.minimum(place, len(unknowns) - 1)] == system.unknown)
        of_term = system.sum_of_term()
        fixed = np.where(inside, 0, bounds.low[system.unknown] * system.sign)  # what is not open is fixed
        constant = np.add.reduceat(fixed, system.first[:-1])
        self.matrix = csr_array(
            (system.sign[inside].astype(float), (of_term[inside], place[inside])),
            shape=(system.sums, len(unknowns)),
        )
        self.least, self.most = system.least - constant, system.most - constant
        self.seen_low = np.full(len(unknowns), UNBOUNDED)
        self.seen_high = np.full(len(unknowns), -UNBOUNDED)

    def extremes(self, wanted: Mask, enough: int | None) -> tuple[Ints, Ints]:
        low, high = self.low.copy(), self.high.copy()
        if len(low) > FEW:
            self._spread(wanted, enough)
        for unknown in np.flatnonzero(self._unclear(wanted, enough)):
            if not self._unclear(wanted, enough)[unknown]:
                continue  # a solution for another one has shown enough
            for sign in (1, -1):
                if (self.seen_low if sign > 0 else self.seen_high)[unknown] == (low if sign > 0 else high)[unknown]:
                    continue
                direction = np.zeros(len(low))
                direction[unknown] = sign
                value = sign * self._solution(direction)
                if sign > 0:
                    low[unknown] = max(low[unknown], int(np.ceil(value - 1e-6)))
                else:
                    high[unknown] = min(high[unknown], int(np.floor(value + 1e-6)))
        return low, high

    def _unclear(self, wanted: Mask, enough: int | None) -> Mask:
        """Which unknowns are wanted, and by the solutions so far neither wide enough nor as wide as their bounds."""
        seen = self.seen_high - self.seen_low  # below 0 before anything was seen
        wide = self.high - self.low if enough is None else np.minimum(enough, self.high - self.low)
        unclear: Mask = wanted & (seen < wide)
        return unclear

    def _spread(self, wanted: Mask, enough: int | None) -> None:
        """Solutions that show as much as possible of many unknowns at once: all that are unclear up, then down."""
        rng = np.random.default_rng(0)  # which solutions are met first: what is found does not depend on it
        for way in (-1, 1):
            unclear = self._unclear(wanted, enough)
            while unclear.any():
                reached = self.seen_low <= self.low if way > 0 else self.seen_high >= self.high
                direction = np.where(unclear & ~reached, way * rng.uniform(1, 2, len(unclear)), 0.0)
                if not direction.any():
                    break
                before = int(unclear.sum()), int(reached.sum())
                self._solution(direction)
                unclear = self._unclear(wanted, enough)
                reached = self.seen_low <= self.low if way > 0 else self.seen_high >= self.high
                if (int(unclear.sum()), int(reached.sum())) == before:
                    break

    def _solution(self, direction: npt.NDArray[np.float64]) -> float:
        """The least of the direction over all solutions; solutions in whole numbers are remembered."""
        solution = self._programme(direction, whole=False)
        if not self._remember(solution) and len(self.low) <= WHOLE:
            solution = self._programme(direction, whole=True)
            self._remember(solution)
        return float(direction @ solution)

    def _programme(self, direction: npt.NDArray[np.float64], *, whole: bool) -> npt.NDArray[np.float64]:
        from scipy.optimize import Bounds as Box
        from scipy.optimize import LinearConstraint, milp

        found = milp(
            direction,
            integrality=np.full(len(direction), int(whole)),
            bounds=Box(self.low, self.high),
            constraints=LinearConstraint(self.matrix, self.least, self.most),
        )
        if found.x is None:
            raise ArithmeticError(f"a linear programme of {len(direction):,} unknowns failed: {found.message}")
        solution: npt.NDArray[np.float64] = found.x
        return solution

    def _remember(self, solution: npt.NDArray[np.float64]) -> bool:
        """Whether the solution is of whole numbers that satisfy everything, to the unit."""
        numbers = np.rint(solution).astype(np.int64)
        if np.abs(numbers - solution).max(initial=0.0) > 1e-6:
            return False
        sums = self.matrix @ numbers.astype(float)
        if not ((sums >= self.least) & (sums <= self.most)).all():
            return False
        np.minimum(self.seen_low, numbers, out=self.seen_low)
        np.maximum(self.seen_high, numbers, out=self.seen_high)
        return True
