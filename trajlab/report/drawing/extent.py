"""Which part of the world a map shows, and where on the paper a place is: one extent for all maps of a page.

Equal-area, with angles true at its centre: hexagons stay hexagons at any latitude.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import shapely

from trajlab.report.ground import Box
from trajlab.spatial._projection import LocalMetres

PIXEL = 40
"""Units of the paper to a pixel, where a map is as wide as its column: room to zoom in."""
WIDTH, HEIGHT = 1_000 * PIXEL, 640 * PIXEL
_CORE = 0.97
_MARGIN = 0.04
_SMALLEST = 200.0
"""Metres: a map is at least so wide."""
_NARROWEST, _WIDEST = 1.25, 2.2
"""Width of the paper / its height."""

Floats = npt.NDArray[np.float64]
Shapes = npt.NDArray[np.object_]


@dataclass(frozen=True)
class Extent:
    """A rectangle in the metres of a plane, drawn as large as the paper allows."""

    plane: LocalMetres
    west: float
    south: float
    east: float
    north: float

    @classmethod
    def around(cls, shapes: Shapes, weights: Floats, plane: LocalMetres) -> Extent | None:
        """All of the shapes (in degrees), whole, with a margin; None where none has a place.

        If a few lie so far away that the others would vanish, those are outside. `weights` says how much
        each matters.
        """
        flat, drawable = project(shapes, plane)
        if not drawable.any():
            return None
        bounds, weights = shapely.bounds(flat[drawable]), weights[drawable]
        west, south, east, north = _core(bounds, weights)
        middle = (bounds[:, :2] + bounds[:, 2:]) / 2
        inside = ((middle >= (west, south)) & (middle <= (east, north))).all(axis=1)
        if inside.any():
            (west, south), (east, north) = bounds[inside, :2].min(axis=0), bounds[inside, 2:].max(axis=0)
        margin = max(east - west, north - south, _SMALLEST) * _MARGIN
        wide, tall = max(east - west, _SMALLEST) + 2 * margin, max(north - south, _SMALLEST) + 2 * margin
        wide, tall = max(wide, tall * _NARROWEST), max(tall, wide / _WIDEST)
        x, y = (west + east) / 2, (south + north) / 2
        return cls(plane, float(x - wide / 2), float(y - tall / 2), float(x + wide / 2), float(y + tall / 2))

    @property
    def scale(self) -> float:
        """Units of the paper to a metre."""
        return min(WIDTH / (self.east - self.west), HEIGHT / (self.north - self.south))

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the paper, in its units."""
        return round((self.east - self.west) * self.scale), round((self.north - self.south) * self.scale)

    def paper(self, xy: Floats) -> Floats:
        """Where on the paper places in metres are."""
        return np.column_stack([(xy[:, 0] - self.west) * self.scale, (self.north - xy[:, 1]) * self.scale])

    def paper_of_degrees(self, lng: Floats, lat: Floats) -> Floats:
        return self.paper(np.column_stack(self.plane.forward(lng, lat)))

    @cached_property
    def box(self) -> Box:
        """The extent in degrees and a little more; its east is beyond 180 where it lies across the antimeridian."""
        steps = np.linspace(-0.02, 1.02, 33)
        x, y = np.meshgrid(self.west + steps * (self.east - self.west), self.south + steps * (self.north - self.south))
        lng, lat = self.plane.inverse(x.ravel(), y.ravel())
        turn = np.remainder(lng - self.plane.lon0 + 180, 360) - 180
        px, py = self.plane.forward([0.0, 0.0], [90.0, -90.0])
        poles = (px >= self.west) & (px <= self.east) & (py >= self.south) & (py <= self.north)
        if poles.any():  # every longitude
            low, high = (-90.0 if poles[1] else lat.min()), (90.0 if poles[0] else lat.max())
            return self.plane.lon0 - 180, float(low), self.plane.lon0 + 180, float(high)
        west, east = self.plane.lon0 + turn.min(), self.plane.lon0 + turn.max()
        return float(west), float(lat.min()), float(east), float(lat.max())


def project(shapes: Shapes, plane: LocalMetres) -> tuple[Shapes, npt.NDArray[np.bool_]]:
    """Shapes in metres, and which of them have a place."""
    flat = plane.to_metres(shapes)
    drawable = ~(shapely.is_missing(flat) | shapely.is_empty(flat))
    drawable[drawable] = np.isfinite(shapely.bounds(flat[drawable])).all(axis=1)
    return flat, drawable


def _core(bounds: Floats, weights: Floats) -> tuple[float, float, float, float]:
    """West, south, east and north without what lies far away."""
    for _ in range(2):  # what one axis leaves out no longer matters to the other
        west, east = _axis(bounds[:, 0], bounds[:, 2], weights)
        near = (bounds[:, 2] >= west) & (bounds[:, 0] <= east)
        bounds, weights = bounds[near], weights[near]
        south, north = _axis(bounds[:, 1], bounds[:, 3], weights)
        near = (bounds[:, 3] >= south) & (bounds[:, 1] <= north)
        bounds, weights = bounds[near], weights[near]
    return west, south, east, north


def _axis(low: Floats, high: Floats, weights: Floats) -> tuple[float, float]:
    """All of an axis, or its core where that is less than a quarter of it."""
    order = np.argsort(low + high, kind="stable")
    upto = np.cumsum(weights[order]) / (weights.sum() or 1)
    first, last = order[np.searchsorted(upto, [1 - _CORE, _CORE]).clip(max=len(order) - 1)]
    core = high[last] - low[first]
    if high.max() - low.min() > 4 * core > 0:
        return float(low[first] - core / 4), float(high[last] + core / 4)
    return float(low.min()), float(high.max())
