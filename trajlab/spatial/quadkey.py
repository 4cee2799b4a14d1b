"""Tiles of web maps: `quadkey:15`, levels 1 to 24, named by Bing's quadkeys, with the x and y of slippy maps.

The globe is a square in Web Mercator (EPSG:3857), cut in four, and each part again, once a level. Tiles are squares
on the map and not on the ground: those of level 15 have a side of 1.2 km at the equator, 0.9 km at 40 and 0.6 km at
60 degrees. Cells of one level therefore hide people in the north less well than in the south; `square` and
`inspire` do not have that. What lies beyond 85.05 degrees, where the map ends, belongs to the tile below.

A cell id is the quadkey as a number to base four, so that a tile lies in the tile without its last digit.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from trajlab.errors import SpatialError
from trajlab.spatial import Cells, Degrees, Polygons, StudyArea
from trajlab.spatial._blocks import assign_in_blocks, known
from trajlab.spatial._projection import area_km2

MOST = 24
_END = float(np.degrees(np.arctan(np.sinh(np.pi))))
"""Latitude at which the map is as high as it is wide."""
_SPREAD = ((16, 0x0000FFFF0000FFFF), (8, 0x00FF00FF00FF00FF), (4, 0x0F0F0F0F0F0F0F0F), (2, 0x3333333333333333),
           (1, 0x5555555555555555))  # fmt: skip
"""Shifts and masks that put a nought before every bit of a number."""


class Quadkey:
    def __init__(self, argument: str, area: StudyArea) -> None:
        if not (argument.isascii() and argument.isdigit() and 1 <= int(argument) <= MOST):
            raise SpatialError(f"quadkey:{argument} has no usable level: give 1 to {MOST}, for example quadkey:15")
        self.level = int(argument)
        self.name = f"quadkey:{self.level}"
        self._area = area

    @property
    def settings(self) -> dict[str, object]:
        return {"level": self.level}

    def assign(self, lon: Degrees, lat: Degrees) -> Cells:
        return assign_in_blocks(lon, lat, self._place)

    def anchor(self, cells: Cells) -> tuple[Degrees, Degrees]:
        """The middle of the tile on the map."""
        column, row = self._column_row(cells)
        return self._lon(column + 0.5), self._lat(row + 0.5)

    def parent(self, cells: Cells) -> Cells:
        ids = known(cells, 4**self.level, self.name).astype(np.uint64)
        return ids if self.level == 1 else ids >> np.uint64(2)

    def coarser(self) -> Quadkey:
        return Quadkey(str(max(1, self.level - 1)), self._area)

    def polygon(self, cells: Cells) -> Polygons:
        """Tiles at the upper and lower end of the map reach to the pole."""
        import shapely

        column, row = self._column_row(cells)
        north = np.where(row == 0, 90.0, self._lat(row))
        south = np.where(row == 2**self.level - 1, -90.0, self._lat(row + 1))
        return np.asarray(shapely.box(self._lon(column), south, self._lon(column + 1), north), dtype=object)

    def area_km2(self, cells: Cells) -> Degrees:
        return area_km2(self.polygon(cells))

    def label(self, cells: Cells) -> list[str]:
        ids = known(cells, 4**self.level, self.name)
        return [np.base_repr(cell, 4).rjust(self.level, "0") for cell in ids.tolist()]

    def _place(self, lon: Degrees, lat: Degrees) -> Cells:
        last = 2**self.level - 1
        height = np.arctanh(np.sin(np.radians(lat.clip(-_END, _END)))) / np.pi  # from -1 to 1
        column = ((lon + 180) / 360 * (last + 1)).clip(0, last).astype(np.uint64)
        row = ((1 - height) / 2 * (last + 1)).clip(0, last).astype(np.uint64)
        return _spread(column) | _spread(row) << np.uint64(1)

    def _column_row(self, cells: npt.ArrayLike) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        ids = known(np.asarray(cells), 4**self.level, self.name).astype(np.uint64)
        return _gather(ids).astype(np.int64), _gather(ids >> np.uint64(1)).astype(np.int64)

    def _lon(self, column: npt.NDArray[np.generic]) -> Degrees:
        return np.asarray(column / 2**self.level * 360 - 180, dtype=np.float64)

    def _lat(self, row: npt.NDArray[np.generic]) -> Degrees:
        return np.asarray(np.degrees(np.arctan(np.sinh(np.pi * (1 - 2 * row / 2**self.level)))), dtype=np.float64)


def _spread(numbers: Cells) -> Cells:
    """Bits at even places: 0b11 becomes 0b0101."""
    for shift, mask in _SPREAD:
        numbers = (numbers | numbers << np.uint64(shift)) & np.uint64(mask)
    return numbers


def _gather(numbers: Cells) -> Cells:
    """The bits at even places, side by side again."""
    numbers = numbers & np.uint64(_SPREAD[-1][1])
    masks = [mask for _, mask in _SPREAD[-2::-1]] + [0x00000000FFFFFFFF]
    for (shift, _), mask in zip(reversed(_SPREAD), masks, strict=True):
        numbers = (numbers | numbers >> np.uint64(shift)) & np.uint64(mask)
    return numbers


INDEX = Quadkey
EXAMPLES = ("15", "1", "24")
