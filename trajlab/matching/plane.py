"""Costs between sources and sinks in the plane, computed where they are needed and never all kept."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from trajlab.matching.plan import Floats, Ints
from trajlab.matching.ties import Grain, Keys, preference

TILE = 64
"""Columns of one neighbourhood: of smaller ones there are too many, of larger ones too many are looked into."""

S = TypeVar("S")
T = TypeVar("T")


class Plane:
    """Rows and columns of a cost matrix that is never written down.

    Row i owns the points from `first[i]` to `first[i + 1]`, column j is `sinks[j]`, and their
    cost is the distance from the nearest of the points, plus a seeded trace of preference
    (see `ties`), as a whole multiple of a tiny power of two: sums of costs are then exact.
    """

    def __init__(
        self,
        points: Floats,
        first: Ints | None,
        sinks: Floats,
        row_keys: Keys,
        column_keys: Keys,
        largest: float | None = None,
        grain: Grain | None = None,
    ) -> None:
        self.points, self.sinks = points, sinks
        self.several = first is not None and len(first) < len(points)
        self.first = first if first is not None else np.arange(len(points))
        self.rows, self.columns = len(self.first), len(sinks)
        self.row_keys, self.column_keys = row_keys, column_keys
        self.largest = _diagonal(points, sinks) if largest is None else largest
        self.grain = grain or Grain.of(self.largest, self.rows + self.columns)

    @functools.cached_property
    def count(self) -> Ints:
        """Points of each row."""
        return np.diff(self.first, append=len(self.points))

    @functools.cached_property
    def row_of(self) -> Ints:
        """The row of each point."""
        return np.repeat(np.arange(self.rows), self.count) if self.several else self.first

    @functools.cached_property
    def _tiles(self) -> _Tiles:
        return _Tiles.of(self.sinks)

    def part(self, rows: Ints, columns: Ints) -> Plane:
        """The same for fewer rows and columns."""
        point, first = self._points_of(rows)
        return Plane(
            self.points[point], first, self.sinks[columns], self.row_keys[rows], self.column_keys[columns], self.largest
        )

    def matrix(self) -> Floats:
        """Every cost, rows × columns."""
        apart = _distances(self.points, self.sinks)
        if self.several:
            apart = _lowest_of_each(apart, self.first)
        return self.grain.costs(apart, preference(self.row_keys[:, None], self.column_keys))

    def cost(self, row: Ints, column: Ints) -> Floats:
        """The costs of some pairs."""
        return self.grain.costs(self.distance(row, column), preference(self.row_keys[row], self.column_keys[column]))

    def distance(self, row: Ints, column: Ints) -> Floats:
        """Their distances, without the trace of preference."""
        if not self.several:
            return np.sqrt(_squared(self.points[row] - self.sinks[column]))
        point, first = self._points_of(row)
        apart = np.sqrt(_squared(self.points[point] - self.sinks[np.repeat(column, self.count[row])]))
        return _lowest_of_each(apart, first) if len(row) else apart

    def below(self, u: Floats, v: Floats, most: int, threads: int) -> tuple[Ints, Ints]:
        """Pairs whose distance is below u + v: all in a tile of columns, or the `most` lowest of each point there.

        A tile is passed over for points further away than its highest price reaches, which is nearly
        always. In the others distance² < (u + v)² is the sign of a product of two thin matrices:
        one multiplication per pair, and no root. What rounding leaves in doubt is taken along.
        """
        tiles, reach, x, y = self._tiles, u[self.row_of], *self.points.T
        middle = self.sinks.mean(axis=0)  # small coordinates make for little rounding
        points, sinks, v = self.points - middle, (self.sinks - middle)[tiles.order], v[tiles.order]
        ends = np.vstack([np.ones(self.columns), _squared(sinks) - v * v, sinks.T, v])
        starts = np.column_stack([_squared(points) - reach * reach, np.ones(len(reach)), -2.0 * points, -2.0 * reach])
        rounding = 1e-14 * (np.abs(starts).max(axis=0) @ np.abs(ends).max(axis=1))
        highest = np.maximum.reduceat(v, tiles.first) + self.grain.tolerance

        def look(tile: int) -> tuple[Ints, Ints]:
            far = reach + highest[tile]
            near = np.flatnonzero((far > 0) & (tiles.squared_distance(tile, x, y) < far * far))
            inside = slice(tile * TILE, (tile + 1) * TILE)
            signs = starts[near] @ ends[:, inside] < rounding
            found = np.flatnonzero(signs.ravel())
            if len(found) > most * len(near):
                over = _distances(points[near], sinks[inside]) - v[inside]
                lowest = np.argpartition(over, min(most, over.shape[1]) - 1, axis=1)[:, :most]
                return np.repeat(self.row_of[near], lowest.shape[1]), tiles.order[tile * TILE + lowest.ravel()]
            point, column = np.divmod(found, signs.shape[1])
            return self.row_of[near[point]], tiles.order[tile * TILE + column]

        row, column = zip(*each(look, range(len(tiles.first)), threads), strict=True)
        return np.concatenate(row), np.concatenate(column)

    def _points_of(self, rows: Ints) -> tuple[Ints, Ints]:
        """The points of some rows one after another, and where each row's begin."""
        count = self.count[rows]
        first = np.cumsum(count) - count
        return np.arange(int(count.sum())) + np.repeat(self.first[rows] - first, count), first


def neighbours_together(points: Floats, size: int) -> Ints:
    """Points in an order in which every `size` of them, one after another, lie close to each other."""
    strips = max(round(np.sqrt(len(points) / size)), 1)
    strip = np.empty(len(points), dtype=np.int64)
    strip[np.argsort(points[:, 0], kind="stable")] = np.arange(len(points)) * strips // len(points)
    return np.lexsort((points[:, 1], strip))


@dataclass(frozen=True, slots=True)
class _Tiles:
    """Points in neighbourhoods of `TILE`, `order[first[i]:first[i + 1]]`, and the box around each."""

    order: Ints
    first: Ints
    low: Floats
    high: Floats

    @classmethod
    def of(cls, points: Floats) -> _Tiles:
        order, first = neighbours_together(points, TILE), np.arange(0, len(points), TILE)
        low, high = (edge.reduceat(points[order], first, axis=0) for edge in (np.minimum, np.maximum))
        return cls(order, first, low, high)

    def squared_distance(self, tile: int, x: Floats, y: Floats) -> Floats:
        """From points to the box of a tile; 0 inside it."""
        (west, south), (east, north) = self.low[tile], self.high[tile]
        squared: Floats = _beyond(x, west, east)
        squared += _beyond(y, south, north)
        return squared


def _beyond(x: Floats, low: float, high: float) -> Floats:
    """How far numbers lie outside an interval, squared."""
    outside: Floats = np.maximum(low - x, x - high)
    np.maximum(outside, 0.0, out=outside)
    outside *= outside
    return outside


def each(look: Callable[[S], T], blocks: Iterable[S], threads: int) -> list[T]:
    if threads == 1:
        return [look(block) for block in blocks]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(look, blocks))


def _distances(a: Floats, b: Floats) -> Floats:
    apart = a[:, :1] - b[:, 0]
    apart *= apart
    other = a[:, 1:] - b[:, 1]
    other *= other
    apart += other
    return np.sqrt(apart, out=apart)


def _squared(vector: Floats) -> Floats:
    squared: Floats = np.einsum("ij,ij->i", vector, vector)
    return squared


def _lowest_of_each(values: Floats, first: Ints) -> Floats:
    lowest: Floats = np.minimum.reduceat(values, first, axis=0)
    return lowest


def _diagonal(a: Floats, b: Floats) -> float:
    low = np.minimum(a.min(axis=0), b.min(axis=0))
    return float(np.hypot(*(np.maximum(a.max(axis=0), b.max(axis=0)) - low)))
