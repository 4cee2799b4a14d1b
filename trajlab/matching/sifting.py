"""Sifting: an exact answer from few of the pairs.

1. Solve a coarser problem, in which every few neighbours are one, by this same method.
2. Take its prices over to all columns, and of each row keep the few pairs that cost least above
   those prices. Every row goes to the cheapest; what does not fit is left to the root of a tree.
3. Go on from that tree by a network simplex on the pairs kept, price *all* pairs, add those that
   are cheaper than their prices say, and repeat until there are none. Then the prices prove the answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from trajlab.matching import forest, pricing
from trajlab.matching.plan import Floats, Ints
from trajlab.matching.plane import Plane, each, neighbours_together
from trajlab.matching.simplex import Solved, dense
from trajlab.matching.ties import preference

MERGE = 4
"""Neighbours that become one on the next coarser level."""
FEW = 8
"""Pairs of a row that a first round starts with."""
MORE = 6
"""Pairs that a row gains in a round."""
COARSEST = 20_000
"""Pairs up to which there is no coarser problem, and lines of which there must be more for one."""
LINES = 20
ALL = 64
"""Pairs of a row that the coarsest problem starts with."""
ROUGHLY = 50
"""A coarser problem is taken for solved when one row in so many is short of a pair."""
WHOLE = 100_000
"""Pairs up to which a problem is solved whole: coarsening would not pay."""
WIDE = 16
"""What it costs at first to leave what the pairs kept cannot place, as a part of the largest cost."""
DEARER = 8
"""How much dearer that becomes, time and again."""
RUN = 2_000
"""Rows looked at together."""


def sift(plane: Plane, supply: Ints, demand: Ints, *, threads: int = 1) -> Solved:
    """Solve exactly. The bound is one on distances: the trace of preference is taken out of it."""
    if plane.rows * plane.columns <= WHOLE:
        solved = dense(plane.matrix(), supply, demand)
        return replace(solved, bound=solved.bound - plane.grain.error * int(supply.sum()))
    return _solve(plane, supply, demand, threads, enough=0)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The pairs kept: those of row i from `first[i]` to `first[i + 1]`, costs in units."""

    first: Ints
    column: forest.Small
    cost: Ints


class _Prices:
    """All pairs of a plane, looked at neighbourhood by neighbourhood; columns are numbered in their order."""

    def __init__(self, plane: Plane, threads: int) -> None:
        self.plane, self.threads = plane, threads
        self.order, self.map = neighbourhoods(plane.sinks)
        self.first = np.append(plane.first, len(plane.points))
        self.keys = plane.column_keys[self.order]
        self.runs = _runs(plane.points[plane.first])

    def nearest(self, v: Floats, few: int) -> tuple[Ints, Floats]:
        """The columns of each row with the least distance − v, best first, and how much that is."""
        column, over = np.empty((self.plane.rows, few), dtype=np.int64), np.empty((self.plane.rows, few))
        highest = np.maximum.reduceat(v, self.map.first[:-1])
        each(
            lambda rows: pricing.nearest(self.plane.points, self.first, rows, self.map, v, highest, column, over),
            self.runs, self.threads,
        )  # fmt: skip
        return column, over

    def below(self, u: Ints, v: Ints) -> tuple[Ints, forest.Small, Ints, Floats]:
        """Of each row how many pairs are short, up to `MORE` of them with their costs, and the gap of its bound."""
        plane, unit = self.plane, self.plane.grain.unit
        count, gap = np.empty(plane.rows, dtype=np.int64), np.empty(plane.rows)
        column = np.empty((plane.rows, MORE), dtype=np.int32)
        cost = np.empty((plane.rows, MORE), dtype=np.int64)
        highest = np.maximum.reduceat(v, self.map.first[:-1]) * unit + unit
        each(
            lambda rows: pricing.below(
                plane.points, self.first, rows, self.map, plane.row_keys, self.keys, unit, plane.grain.extra,
                u, v, highest, count, column, cost, gap,
            ),
            self.runs, self.threads,
        )  # fmt: skip
        return count, column, cost, gap


def neighbourhoods(points: Floats) -> tuple[Ints, pricing.Map]:
    """Points in the order of neighbourhoods, and the map of them."""
    order, first = neighbours_together(points, pricing.TILE), np.arange(0, len(points), pricing.TILE)
    there = np.ascontiguousarray(points[order])
    low, high = (edge.reduceat(there, first, axis=0) for edge in (np.minimum, np.maximum))
    return order, pricing.Map(there, np.append(first, len(points)), low, high)


def _solve(plane: Plane, supply: Ints, demand: Ints, threads: int, enough: int) -> Solved:
    """The answer, or one where no more than `enough` pairs are short."""
    prices = _Prices(plane, threads)
    coarsest = plane.rows * plane.columns <= COARSEST or min(plane.rows, plane.columns) < LINES
    v = np.zeros(plane.columns) if coarsest else _from_coarser(plane, supply, demand, threads)[prices.order]
    unit, demand = plane.grain.unit, demand[prices.order]
    column, over = prices.nearest(v, min(ALL if coarsest else FEW, plane.columns))
    chance = preference(plane.row_keys[:, None], prices.keys[column])
    cost = np.rint(plane.grain.costs(over + v[column], chance) / unit).astype(np.int64)
    dearest = int(np.ceil((plane.largest + plane.grain.extra) / unit)) + 1
    most = 2 * dearest * (plane.rows + plane.columns)  # dearer than any way round
    middle = np.rint(v / unit).astype(np.int64)
    tree = forest.plant(supply, demand, column[:, 0].copy(), cost[:, 0].copy(), middle, dearest // WIDE + 1)
    pairs = _Pairs(np.arange(plane.rows + 1) * column.shape[1], column.astype(np.int32).ravel(), cost.ravel())
    rounds, row = 0, plane.columns + 1 + np.arange(plane.rows)
    while True:
        rounds += 1
        forest.improve(tree, pairs.first, pairs.column, pairs.cost)
        final, u = tree.price[:-1].copy(), tree.cost[row] - tree.price[tree.parent[row]]
        count, more, more_cost, gap = prices.below(u, final)
        if count.sum() > enough:
            pairs = _Pairs(*forest.join(pairs.first, pairs.column, pairs.cost, count, more, more_cost))
        elif not forest.widen(tree, DEARER, most):
            break
    bound = float(supply @ (u * unit + gap - unit) + demand @ (final * unit))
    return _planned(tree, prices.order, u * unit, final * unit, bound, rounds)


def _planned(tree: forest.Forest, order: Ints, u: Floats, v: Floats, bound: float, rounds: int) -> Solved:
    """What flows along the arcs of the tree."""
    root = len(order)
    column = np.flatnonzero((tree.flow[:root] > 0) & (tree.parent[:root] > root))
    row = np.flatnonzero(tree.flow[root + 1 :] > 0)
    by_row = np.empty(root)
    by_row[order] = v
    return Solved(
        np.concatenate([tree.parent[column] - root - 1, row]).astype(np.int64),
        order[np.concatenate([column, tree.parent[row + root + 1]])],
        np.concatenate([tree.flow[column], tree.flow[row + root + 1]]),
        u, by_row, bound, rounds,
    )  # fmt: skip


def _from_coarser(plane: Plane, supply: Ints, demand: Ints, threads: int) -> Floats:
    """The highest prices of columns that those of the rows of a coarser problem allow."""
    rows, row_supply = _merged(plane.points[plane.first], supply)
    columns, column_demand = _merged(plane.sinks, demand)
    coarse = plane.part(rows, columns)
    solved = _solve(coarse, row_supply, column_demand, threads, enough=len(rows) // ROUGHLY)
    order, there = neighbourhoods(coarse.points)
    u = solved.u[coarse.row_of[order]]
    every = np.arange(plane.columns + 1)
    found, v = np.empty((plane.columns, 1), dtype=np.int64), np.empty((plane.columns, 1))
    highest = np.maximum.reduceat(u, there.first[:-1])
    each(lambda run: pricing.nearest(plane.sinks, every, run, there, u, highest, found, v), _runs(plane.sinks), threads)
    return v[:, 0]


def _runs(points: Floats) -> list[Ints]:
    """Points in runs, in the order of neighbourhoods."""
    order = neighbours_together(points, pricing.TOGETHER)
    return [order[at : at + RUN] for at in range(0, len(order), RUN)]


def _merged(points: Floats, amount: Ints) -> tuple[Ints, Ints]:
    """The heaviest of every few neighbours, and the amount of them all."""
    tiles = -(-len(points) // MERGE)
    member = np.full((tiles, MERGE), -1)
    member.ravel()[: len(points)] = neighbours_together(points, MERGE)
    share = np.where(member >= 0, amount[member], 0)
    return member[np.arange(tiles), share.argmax(axis=1)], share.sum(axis=1)
