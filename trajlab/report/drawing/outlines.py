"""Shapes on the paper as SVG path data, in whole units."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import shapely

from trajlab.report.drawing.extent import PIXEL, Shapes

POINT = 6 * PIXEL
"""Half the width of the mark of a point."""
_FINEST = 0.1 * PIXEL
_FEW_CORNERS = 12
"""Shapes with no more corners keep them all: a hexagon without one is a diamond."""
_LINE, _POLYGON = 1, 3


def write_paths(shapes: Shapes, *, finest: float = _FINEST) -> list[str]:
    """SVG path data of each shape: first corner, then steps; points become small diamonds.

    Corners that move an outline by less than `finest` are left out, unless it has few.
    """
    corners = shapely.bounds(shapes)
    points = (corners[:, 2:] - corners[:, :2]).max(axis=1, initial=0) == 0
    shapes = np.where(points, shapely.buffer(shapely.centroid(shapes), POINT, quad_segs=1), shapes)
    many = shapely.get_num_coordinates(shapes) > _FEW_CORNERS
    shapes = np.where(many, shapely.simplify(shapes, finest), shapes)
    parts, owner = shapely.get_parts(shapes, return_index=True)
    parts, inner = shapely.get_parts(shapely.normalize(parts), return_index=True)
    owner = owner[inner]
    kind = shapely.get_type_id(parts)
    solid, thin = kind == _POLYGON, kind == _LINE
    rings, part = shapely.get_rings(parts[solid], return_index=True)
    drawn = [""] * len(shapes)
    for ring, cell in zip(rings, owner[solid][part], strict=True):
        drawn[cell] += _write_steps(np.rint(shapely.get_coordinates(ring)).astype(np.int64)[:-1]) + "z"
    for line, cell in zip(parts[thin], owner[thin], strict=True):
        drawn[cell] += _write_steps(np.rint(shapely.get_coordinates(line)).astype(np.int64))
    return drawn


def _write_steps(corners: npt.NDArray[np.int64]) -> str:
    steps = np.diff(corners, axis=0)
    (x, y), moves = corners[0], [f"{dx} {dy}" for dx, dy in steps.tolist() if dx or dy]
    return f"M{x} {y}l{' '.join(moves) or '0 0'}".replace(" -", "-")
