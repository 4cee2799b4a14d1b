"""Sifting: an exact answer from few of the pairs.

1. Solve a coarser problem, in which every few neighbours are one, by this same method.
2. Take its prices over to all rows and columns, and of the pairs that it found promising
   keep the few of each row and column that cost least above those prices.
3. Solve on the pairs kept, price *all* pairs, add those that are cheaper than their prices
   say, and repeat until there are none. Then the prices prove the answer.

Nearest pairs alone, without pricing, can be half as dear again as the best plan; pricing
from nearest pairs needs twice the rounds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from trajlab.matching.plan import Floats, Ints, rank_within
from trajlab.matching.plane import Plane, neighbours_together
from trajlab.matching.simplex import Solved, dense, sparse

MERGE = 4
"""Neighbours that become one on the next coarser level."""
FEW = 8
"""Pairs of a row or column that a first round starts with."""
MORE = 6
"""Pairs that a row or column gains in a round that finds very many."""
ROUGHLY = 8
"""Rounds after which a coarser problem is taken for solved."""
WHOLE = 300_000
"""Pairs up to which a problem is solved whole: coarsening would not pay."""

Pairs = tuple[Ints, Ints]


def sift(plane: Plane, supply: Ints, demand: Ints, *, threads: int = 1) -> Solved:
    """Solve exactly. The bound is one on distances: the trace of preference is taken out of it."""
    if plane.rows * plane.columns <= WHOLE:
        solved = dense(plane.matrix(), supply, demand)
        return replace(solved, bound=solved.bound - plane.grain.error * int(supply.sum()))
    solved, _ = _solve(plane, supply, demand, threads, rounds=1000)
    return solved


def _solve(plane: Plane, supply: Ints, demand: Ints, threads: int, rounds: int) -> tuple[Solved, Pairs]:
    """The answer after some rounds, and pairs that cost little above its prices."""
    if plane.rows * plane.columns <= WHOLE:
        return _whole(plane, supply, demand)
    u, v, pairs = _from_coarser(plane, supply, demand, threads)
    row, column = distinct(plane, pairs, _any_plan(supply, demand))
    cost = plane.cost(row, column)
    supplies, demands = supply.astype(np.float64), demand.astype(np.float64)
    done, new = 0, np.arange(1)
    while len(new) and done < rounds:
        done += 1
        solved = sparse(row, column, cost, supplies, demands, u, v)
        u, v = solved.u - solved.u[0], solved.v + solved.u[0]
        new_row, new_column = distinct(plane, plane.below(u, v, FEW, threads))
        new_cost = plane.cost(new_row, new_column)
        short = new_cost - u[new_row] - v[new_column]
        new = np.flatnonzero(short < -plane.grain.tolerance)
        if len(new) > plane.rows:
            new = new[lowest(new_row[new], new_column[new], short[new], MORE)]
        row, column = np.concatenate([row, new_row[new]]), np.concatenate([column, new_column[new]])
        cost = np.concatenate([cost, new_cost[new]])
    worst = np.zeros(plane.rows)
    np.minimum.at(worst, new_row, plane.distance(new_row, new_column) - u[new_row] - v[new_column])
    bound = float(supplies @ (u + worst - plane.grain.unit) + demands @ v)
    few = lowest(row, column, cost - u[row] - v[column], FEW)
    return Solved(solved.source, solved.sink, solved.amount, u, v, bound, done), (row[few], column[few])


def _whole(plane: Plane, supply: Ints, demand: Ints) -> tuple[Solved, Pairs]:
    cost = plane.matrix()
    solved = dense(cost, supply, demand)
    cost -= solved.u[:, None]
    cost -= solved.v
    by_row = np.argpartition(cost, min(FEW, plane.columns) - 1, axis=1)[:, :FEW]
    by_column = np.argpartition(cost, min(FEW, plane.rows) - 1, axis=0)[:FEW]
    row = np.concatenate([np.repeat(np.arange(plane.rows), by_row.shape[1]), by_column.ravel()])
    return solved, (row, np.concatenate([by_row.ravel(), np.tile(np.arange(plane.columns), len(by_column))]))


def _from_coarser(plane: Plane, supply: Ints, demand: Ints, threads: int) -> tuple[Floats, Floats, Pairs]:
    rows, row_supply, row_tile = _merged(plane.points[plane.first], supply)
    columns, column_demand, column_tile = _merged(plane.sinks, demand)
    solved, (row, column) = _solve(plane.part(rows, columns), row_supply, column_demand, threads, rounds=ROUGHLY)
    u = plane.part(np.arange(plane.rows), columns).row_prices(solved.v, threads)
    v = plane.part(rows, np.arange(plane.columns)).column_prices(solved.u, threads)
    row = np.repeat(row_tile[row], MERGE, axis=1).ravel()
    column = np.tile(column_tile[column], (1, MERGE)).ravel()
    there = (row >= 0) & (column >= 0)
    row, column = row[there], column[there]
    few = lowest(row, column, plane.distance(row, column) - u[row] - v[column], FEW)
    return u, v, (row[few], column[few])


def _merged(points: Floats, amount: Ints) -> tuple[Ints, Ints, Ints]:
    """The heaviest of every few neighbours, the amount of them all, and who they are (-1: nobody)."""
    tiles = -(-len(points) // MERGE)
    member = np.full((tiles, MERGE), -1)
    member.ravel()[: len(points)] = neighbours_together(points, MERGE)
    share = np.where(member >= 0, amount[member], 0)
    return member[np.arange(tiles), share.argmax(axis=1)], share.sum(axis=1), member


def _any_plan(supply: Ints, demand: Ints) -> Pairs:
    """Pairs of some feasible plan, so that the pairs kept always admit one (the north-west corner rule)."""
    given, taken = np.cumsum(supply), np.cumsum(demand)
    unit = np.concatenate([[0], np.union1d(given, taken)[:-1]])
    return np.searchsorted(given, unit, side="right"), np.searchsorted(taken, unit, side="right")


def lowest(row: Ints, column: Ints, over: Floats, most: int) -> Ints:
    """Where the `most` lowest values of each row and of each column are."""
    keep = np.zeros(len(row), dtype=bool)
    ascending = np.argsort(over)
    for line in (row, column):
        narrow = line.astype(np.uint16 if line.max(initial=0) < 2**16 else np.uint32)  # short numbers sort fast
        order = ascending[np.argsort(narrow[ascending], kind="stable")]
        keep[order[rank_within(line[order]) < most]] = True
    return np.flatnonzero(keep)


def distinct(plane: Plane, *pairs: Pairs) -> Pairs:
    pair = np.sort(np.concatenate([row * plane.columns + column for row, column in pairs]))
    pair = pair[np.diff(pair, prepend=-1) != 0]
    return pair // plane.columns, pair % plane.columns
