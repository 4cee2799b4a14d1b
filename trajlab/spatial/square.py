"""Squares of equal side in metres: `square:500`, or `square:like=h3:8` for squares as large as hexagons.

Points outside the study box are moved to its edge (dsilva2024 §IV-C), then projected
to local metres and cut at whole multiples of the side from a corner south-west of the
box. The corner does not depend on the side, so squares of twice the side hold exactly
four of these. A cell id is row * 2³² + column.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from trajlab.errors import SpatialError
from trajlab.spatial import Cells, Degrees, Polygons, StudyArea, build
from trajlab.spatial._blocks import assign_in_blocks, refuse_unknown
from trajlab.spatial._globe import beside, wrapped
from trajlab.spatial._outline import Outline
from trajlab.spatial._projection import LocalMetres

_SMALLEST, _LARGEST = 1.0, 1e8
_COLUMN = np.uint64(2**32 - 1)
_SHIFT = np.uint64(32)


class Square:
    """Cells at the edge of the box are whole squares too, drawn and measured beyond the edge."""

    def __init__(self, argument: str, area: StudyArea) -> None:
        self.side = _side_like(argument[5:], area) if argument.startswith("like=") else metres("square", argument)
        self.name = f"square:{self.side:.15g}"
        self.plane = LocalMetres.centred(area.box)
        self._area = area
        self._outline = Outline(area.box, self.plane)
        self.x0, self.y0 = (math.floor(low) - 1.0 for low in self._outline.lowest)
        x1, y1 = self._outline.highest
        self.columns = math.floor((x1 + 1 - self.x0) / self.side) + 1
        self.rows = math.floor((y1 + 1 - self.y0) / self.side) + 1
        if max(self.columns, self.rows) > 2**31:
            raise SpatialError(
                f"{self.name} would cut this box into {self.columns} columns and {self.rows} rows; "
                "at most 2147483648 are numbered: take a longer side or a smaller box"
            )

    @property
    def settings(self) -> dict[str, object]:
        return {
            "side_m": self.side,
            "box": list(self._area.box),
            "centre": [self.plane.lon0, self.plane.lat0],
            "corner_m": [self.x0, self.y0],
        }

    def assign(self, lon: Degrees, lat: Degrees) -> Cells:
        return assign_in_blocks(lon, lat, self._place)

    def anchor(self, cells: Cells) -> tuple[Degrees, Degrees]:
        """The centre; where that is outside the box, the nearest edge or a point of the edge in the cell."""
        column, row = self._column_row(cells)
        lon, lat = self.plane.inverse(self.x0 + (column + 0.5) * self.side, self.y0 + (row + 0.5) * self.side)
        west, south, east, north = self._area.box
        lon, lat = beside(lon, self._area.box).clip(west, east), lat.clip(south, north)
        wanted = (row.astype(np.uint64) << _SHIFT) | column.astype(np.uint64)
        astray = np.flatnonzero(self._place(lon, lat) != wanted)
        if astray.size:
            x, y = self.x0 + column[astray] * self.side, self.y0 + row[astray] * self.side
            squares = np.column_stack([x, y, x + self.side, y + self.side])
            for edge_lon, edge_lat in self._outline.crossings(squares):
                inside = self._place(edge_lon, edge_lat) == wanted[astray]
                lon[astray[inside]], lat[astray[inside]] = edge_lon[inside], edge_lat[inside]
        refuse_unknown(self._place(lon, lat) != wanted, self.name)
        return wrapped(lon), lat

    def parent(self, cells: Cells) -> Cells:
        column, row = self._column_row(cells)
        return (row.astype(np.uint64) >> np.uint64(1) << _SHIFT) | (column.astype(np.uint64) >> np.uint64(1))

    def coarser(self) -> Square:
        """Squares of twice the side; one square that holds the whole box is the coarsest."""
        return self if self.columns == self.rows == 1 else Square(f"{2 * self.side:.15g}", self._area)

    def polygon(self, cells: Cells) -> Polygons:
        return self.plane.to_degrees(self.flat(cells))

    def flat(self, cells: Cells) -> Polygons:
        """The squares themselves, in metres of the plane."""
        import shapely

        column, row = self._column_row(cells)
        x, y = self.x0 + column * self.side, self.y0 + row * self.side
        return np.asarray(shapely.box(x, y, x + self.side, y + self.side), dtype=object)

    def area_km2(self, cells: Cells) -> Degrees:
        return np.full(self._column_row(cells)[0].shape, self.side**2 / 1e6)

    def label(self, cells: Cells) -> list[str]:
        column, row = self._column_row(cells)
        return [f"{c},{r}" for c, r in zip(column.tolist(), row.tolist(), strict=True)]

    def _place(self, lon: Degrees, lat: Degrees) -> Cells:
        west, south, east, north = self._area.box
        x, y = self.plane.forward(beside(lon, self._area.box).clip(west, east), lat.clip(south, north))
        x -= self.x0
        y -= self.y0
        x /= self.side
        y /= self.side
        row = y.astype(np.uint64)  # truncation is the floor: the corner keeps both positive
        row <<= _SHIFT
        row |= x.astype(np.uint64)
        return row

    def _column_row(self, cells: npt.ArrayLike) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        ids = np.asarray(cells).astype(np.uint64, copy=False)
        column, row = (ids & _COLUMN).astype(np.int64), (ids >> _SHIFT).astype(np.int64)
        refuse_unknown((column >= self.columns) | (row >= self.rows), self.name)
        return column, row


def metres(kind: str, text: str) -> float:
    """A side in metres from the text of a spec, to the millimetre."""
    try:
        side = float(text)
    except ValueError:
        side = math.nan
    if not _SMALLEST <= side <= _LARGEST:
        raise SpatialError(
            f"{kind}:{text} has no usable side: give metres from {_SMALLEST:g} to {_LARGEST:.0f}, "
            f"for example {kind}:500" + (", or square:like=h3:8" if kind == "square" else "")
        )
    return round(side, 3)


def _side_like(spec: str, area: StudyArea) -> float:
    """Side of a square as large as the median of the cells met by a lattice over the box."""
    other = build(spec, area)
    west, south, east, north = area.box
    lon, lat = np.meshgrid(np.linspace(west, east, 64), np.linspace(south, north, 64))
    cells = np.unique(other.assign(wrapped(lon.ravel()), lat.ravel()))
    return metres("square", f"{1e3 * math.sqrt(float(np.median(other.area_km2(cells)))):.3f}")


INDEX = Square
EXAMPLES = ("500", "20000", "like=h3:7")
