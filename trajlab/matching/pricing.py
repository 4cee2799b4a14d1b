"""Which columns are cheap for a row at given prices, found without looking at most of them.

Columns are kept in neighbourhoods with a box around each. A neighbourhood is passed over where
even its highest price, from the nearest corner of its box, could not make a difference.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trajlab.matching.compiled import compiled
from trajlab.matching.plan import Floats, Ints

TILE = 32
"""Columns of one neighbourhood."""
TOGETHER = 16
"""Rows for which neighbourhoods are chosen at once."""


class Map(NamedTuple):
    """Points in neighbourhoods, from `first[i]` to `first[i + 1]`, and the box around each."""

    points: Floats
    first: Ints
    low: Floats
    high: Floats


@compiled
def apart(points, begin, end, x, y):  # type: ignore[no-untyped-def]
    """The squared distance from the nearest of some points."""
    least = np.inf
    for point in range(begin, end):
        east, north = points[point, 0] - x, points[point, 1] - y
        least = min(least, east * east + north * north)
    return least


@compiled
def outside(points, begin, end, low, high, tile):  # type: ignore[no-untyped-def]
    """The squared distance of a box from the nearest of some points; 0 inside it."""
    least = np.inf
    for point in range(begin, end):
        east = max(low[tile, 0] - points[point, 0], points[point, 0] - high[tile, 0], 0.0)
        north = max(low[tile, 1] - points[point, 1], points[point, 1] - high[tile, 1], 0.0)
        least = min(least, east * east + north * north)
    return least


@compiled
def between(points, first, rows, grid, far):  # type: ignore[no-untyped-def]
    """How far each neighbourhood is at least from the points of some rows."""
    west = south = np.inf
    east = north = -np.inf
    for row in rows:
        for point in range(first[row], first[row + 1]):
            west, east = min(west, points[point, 0]), max(east, points[point, 0])
            south, north = min(south, points[point, 1]), max(north, points[point, 1])
    for tile in range(len(far)):
        across = max(grid.low[tile, 0] - east, west - grid.high[tile, 0], 0.0)
        along = max(grid.low[tile, 1] - north, south - grid.high[tile, 1], 0.0)
        far[tile] = np.sqrt(across * across + along * along)


@compiled
def nearest(points, first, rows, grid, v, highest, column, over):  # type: ignore[no-untyped-def]
    """For some rows, into `column` and `over`: the columns with the least distance − v, and how much that is.

    Rows that follow each other lie close together, and what is too far from all of them is passed over once.
    """
    few = column.shape[1]
    far = np.empty(len(highest))
    for start in range(0, len(rows), TOGETHER):
        some = rows[start : start + TOGETHER]
        between(points, first, some, grid, far)
        far -= highest
        order = np.argsort(far, kind="mergesort")
        for row in some:
            begin, end, found = first[row], first[row + 1], 0
            for tile in order:
                if found == few:
                    if far[tile] >= over[row, few - 1]:
                        break
                    least = over[row, few - 1] + highest[tile]
                    if least <= 0 or outside(points, begin, end, grid.low, grid.high, tile) >= least * least:
                        continue
                for j in range(grid.first[tile], grid.first[tile + 1]):
                    value = np.sqrt(apart(points, begin, end, grid.points[j, 0], grid.points[j, 1])) - v[j]
                    if found == few and value >= over[row, few - 1]:
                        continue
                    found = min(found + 1, few)
                    at = found - 1
                    while at > 0 and over[row, at - 1] > value:
                        over[row, at], column[row, at] = over[row, at - 1], column[row, at - 1]
                        at -= 1
                    over[row, at], column[row, at] = value, j


@compiled
def below(  # type: ignore[no-untyped-def]
    points, first, rows, grid, row_keys, column_keys, unit, extra, u, v, highest, count, column, cost, gap
):
    """For some rows: the columns whose cost is furthest below u + v, and how far a distance is below that at most.

    Prices and costs are whole multiples of `unit`: `ties.Grain` and `ties.preference` in one. `highest` is that of v
    in each neighbourhood, in metres, and a unit more. Rows as in `nearest`.
    """
    far = np.empty(len(highest))
    near = np.empty(len(highest), np.int64)
    for start in range(0, len(rows), TOGETHER):
        some = rows[start : start + TOGETHER]
        between(points, first, some, grid, far)
        most = u[some[0]]
        for row in some:
            most = max(most, u[row])
        tiles = 0
        for tile in range(len(highest)):
            if far[tile] < most * unit + highest[tile]:
                near[tiles] = tile
                tiles += 1
        for row in some:
            count[row], gap[row] = look(
                points, first[row], first[row + 1], grid, near[:tiles], row_keys[row] | np.uint64(1), column_keys,
                unit, extra, u[row], v, highest, column[row], cost[row],
            )  # fmt: skip


@compiled
def look(  # type: ignore[no-untyped-def]
    points, begin, end, grid, near, key, column_keys, unit, extra, u, v, highest, column, cost
):
    """The same for one row and some neighbourhoods."""
    few, found, reach, gap = len(column), 0, u * unit, 0.0
    short = np.empty(few, np.int64)
    for tile in near:
        far = reach + highest[tile]
        if far <= 0 or outside(points, begin, end, grid.low, grid.high, tile) >= far * far:
            continue
        for j in range(grid.first[tile], grid.first[tile + 1]):
            far = reach + (v[j] + 1) * unit
            if far <= 0:
                continue
            distance = apart(points, begin, end, grid.points[j, 0], grid.points[j, 1])
            if distance >= far * far:
                continue
            distance = np.sqrt(distance)
            gap = min(gap, distance - reach - v[j] * unit)
            chance = np.float64((key * column_keys[j]) >> np.uint64(11)) * 2.0**-53
            whole = np.int64(np.rint((chance * extra + distance) / unit))
            over = whole - u - v[j]
            if over >= 0 or (found == few and over >= short[few - 1]):
                continue
            found = min(found + 1, few)
            at = found - 1
            while at > 0 and short[at - 1] > over:
                short[at], column[at], cost[at] = short[at - 1], column[at - 1], cost[at - 1]
                at -= 1
            short[at], column[at], cost[at] = over, j, whole
    return found, gap
