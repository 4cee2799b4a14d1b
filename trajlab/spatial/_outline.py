"""The edge of a study box in metres, and where it runs through a square.

A meridian or parallel is a curve in local metres. Split where it turns, it becomes
arcs on which x and y only rise or only fall, so that the stretch of an arc inside a
square is found by bisection: exactly, however thin a corner the box pushes into it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trajlab.spatial._projection import LocalMetres

if TYPE_CHECKING:
    from trajlab.spatial import Degrees

Arc = tuple[float, float, float, float]
"""lon and lat of its start, lon and lat of its end."""


@dataclass(frozen=True)
class Outline:
    box: tuple[float, float, float, float]
    plane: LocalMetres

    @property
    def lowest(self) -> tuple[float, float]:
        """Smallest x and y of the box, which lie where an arc begins or ends."""
        x, y = self._ends()
        return float(x.min()), float(y.min())

    @property
    def highest(self) -> tuple[float, float]:
        x, y = self._ends()
        return float(x.max()), float(y.max())

    def crossings(self, squares: Degrees) -> Iterator[tuple[Degrees, Degrees]]:
        """For each arc in turn, a point (lon, lat) of it in each square it runs through.

        `squares` has rows left, bottom, right, top in metres. Squares that the arc
        misses get some point all the same; the caller must look where it lies.
        """
        for arc in self.arcs():
            first, last = np.zeros(len(squares)), np.ones(len(squares))
            for axis in (0, 1):
                one, other = (self._reach(arc, axis, squares[:, axis + side]) for side in (0, 2))
                first, last = np.maximum(first, np.minimum(one, other)), np.minimum(last, np.maximum(one, other))
            for share in ((first + last) / 2, first, last):
                yield _degrees(arc, share)

    @functools.lru_cache(maxsize=64)  # noqa: B019  the boxes of a study are few, and asked for again and again
    def arcs(self) -> tuple[Arc, ...]:
        west, south, east, north = self.box
        middle = (west + east) / 2
        arcs: list[Arc] = []
        for lat in (south, north):  # a parallel turns at the central meridian
            arcs += [(west, lat, middle, lat), (middle, lat, east, lat)]
        for lon in (west, east):  # a meridian at the latitude farthest from the central one
            turn = self._turn(lon)
            arcs += [(lon, south, lon, turn), (lon, turn, lon, north)]
        return tuple(arcs)

    def _turn(self, lon: float) -> float:
        """Latitude, within the box, where the meridian is farthest from the central one."""
        _, low, _, high = self.box
        for _ in range(40):
            tries = np.linspace(low, high, 17)
            x, _y = self.plane.forward(np.full(17, lon), tries)
            best = int(np.argmax(np.abs(x)))
            low, high = float(tries[max(best - 1, 0)]), float(tries[min(best + 1, 16)])
        return float((low + high) / 2) if low < high else low

    def _ends(self) -> tuple[Degrees, Degrees]:
        ends = np.array([point for arc in self.arcs() for point in (arc[:2], arc[2:])])
        return self.plane.forward(ends[:, 0], ends[:, 1])

    def _reach(self, arc: Arc, axis: int, values: Degrees) -> Degrees:
        """Share of the arc after which x (axis 0) or y (axis 1) passes each value."""
        start, end = self.plane.forward(*_degrees(arc, np.array([0.0, 1.0])))[axis]
        low, high = np.zeros(len(values)), np.ones(len(values))
        for _ in range(60):
            half = (low + high) / 2
            before = (self.plane.forward(*_degrees(arc, half))[axis] < values) == (start <= end)
            low, high = np.where(before, half, low), np.where(before, high, half)
        return (low + high) / 2


def _degrees(arc: Arc, share: Degrees) -> tuple[Degrees, Degrees]:
    lon, lat, lon_end, lat_end = arc
    return (
        (lon + share * (lon_end - lon)).clip(min(lon, lon_end), max(lon, lon_end)),
        (lat + share * (lat_end - lat)).clip(min(lat, lat_end), max(lat, lat_end)),
    )
