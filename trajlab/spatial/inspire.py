"""The European statistical grid: `inspire:1000`, squares of ETRS89-LAEA (EPSG:3035) with their official codes.

Cells are cut at whole multiples of the side from the grid's own origin, whatever the study box, so two labs
have the same cells, and those of Eurostat's and the national census grids. The label of a cell is its code by
INSPIRE: CRS3035RES1000mN2689000E4337000 has its south-west corner 2,689,000 m north and 4,337,000 m east. A cell
id is north * 2³² + east, both in whole sides. Coarser is the next power of ten, up to 100 km: 100 and 250 m
merge into 1,000 m. WGS 84 is taken for ETRS89, which it has drifted from by less than a metre.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from trajlab.errors import SpatialError
from trajlab.spatial import Cells, Degrees, Polygons, StudyArea
from trajlab.spatial._blocks import assign_in_blocks, refuse_unknown
from trajlab.spatial._projection import LocalMetres

SIDES = frozenset(
    {side * 10**zeros for side in (1, 2, 5) for zeros in range(5)} | {25 * 10**zeros for zeros in range(4)}
)
"""Metres, below 100 km: each divides the next power of ten."""
COVERS = (-32.0, 27.0, 45.0, 82.0)
"""West, south, east, north in degrees: from the Azores to the Caucasus, from the Canaries to Svalbard."""
LARGEST = 100_000
_PLANE = LocalMetres(10.0, 52.0)
_EAST, _NORTH = 4_321_000.0, 3_210_000.0  # coordinates of the plane's centre in EPSG:3035
_REACH = 8_000_000  # metres each way from the origin; holds all that is covered
_SHIFT, _COLUMN = np.uint64(32), np.uint64(2**32 - 1)


class Inspire:
    """Points beyond the grid are moved to its edge; a study box reaches no further than it covers."""

    def __init__(self, argument: str, area: StudyArea) -> None:
        self.side = _metres(argument)
        self.name = f"inspire:{self.side}"
        west, south, east, north = area.box
        if west < COVERS[0] or south < COVERS[1] or east > COVERS[2] or north > COVERS[3]:
            raise SpatialError(
                f"{self.name} covers Europe, longitude {COVERS[0]:g} to {COVERS[2]:g} and latitude {COVERS[1]:g} to "
                f"{COVERS[3]:g}, and the study box goes from {west:g} to {east:g} and {south:g} to {north:g}: "
                "give a box inside, or use square or h3"
            )
        self._area = area

    @property
    def settings(self) -> dict[str, object]:
        return {"side_m": self.side, "crs": "EPSG:3035"}

    def assign(self, lon: Degrees, lat: Degrees) -> Cells:
        return assign_in_blocks(lon, lat, self._place)

    def anchor(self, cells: Cells) -> tuple[Degrees, Degrees]:
        east, north = self._corner(cells)
        return _PLANE.inverse(east + self.side / 2 - _EAST, north + self.side / 2 - _NORTH)

    def parent(self, cells: Cells) -> Cells:
        east, north = self._corner(cells)
        side = self.coarser().side
        return _cell(east // side, north // side)

    def coarser(self) -> Inspire:
        """The next power of ten; cells of 100 km are the coarsest."""
        return self if self.side == LARGEST else Inspire(str(10 ** len(str(self.side))), self._area)

    def polygon(self, cells: Cells) -> Polygons:
        import shapely

        east, north = self._corner(cells)
        x, y = east - _EAST, north - _NORTH
        return _PLANE.to_degrees(np.asarray(shapely.box(x, y, x + self.side, y + self.side), dtype=object))

    def area_km2(self, cells: Cells) -> Degrees:
        return np.full(self._corner(cells)[0].shape, self.side**2 / 1e6)

    def label(self, cells: Cells) -> list[str]:
        """The official code of each cell."""
        east, north = self._corner(cells)
        return [f"CRS3035RES{self.side}mN{n}E{e}" for e, n in zip(east.tolist(), north.tolist(), strict=True)]

    def _place(self, lon: Degrees, lat: Degrees) -> Cells:
        x, y = _PLANE.forward(lon, lat)
        last = _REACH // self.side - 1
        column, row = (np.floor(v / self.side).clip(0, last) for v in (x + _EAST, y + _NORTH))
        return _cell(column, row)

    def _corner(self, cells: npt.ArrayLike) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Metres east and north of the south-west corner of each cell, in EPSG:3035."""
        ids = np.asarray(cells).astype(np.uint64, copy=False)
        column, row = (ids & _COLUMN).astype(np.int64), (ids >> _SHIFT).astype(np.int64)
        refuse_unknown((column >= _REACH // self.side) | (row >= _REACH // self.side), self.name)
        return column * self.side, row * self.side


def short_code(code: str) -> str:
    """The code of a cell as older tables have it: 1kmN2689E4337 for CRS3035RES1000mN2689000E4337000.

    The side is in km where it is whole km, and the corner loses as many zeros as the side ends in.
    """
    found = re.fullmatch(r"CRS3035RES([1-9]\d*)mN(\d+)E(\d+)", code)
    if not found:
        raise SpatialError(f"{code!r} is not the code of a cell, such as CRS3035RES1000mN2689000E4337000")
    side, north, east = map(int, found.groups())
    ten = 10 ** (len(str(side)) - len(str(side).rstrip("0")))
    return f"{f'{side // 1000}km' if side % 1000 == 0 else f'{side}m'}N{north // ten}E{east // ten}"


def _cell(column: npt.NDArray[np.generic], row: npt.NDArray[np.generic]) -> Cells:
    return (row.astype(np.uint64) << _SHIFT) | column.astype(np.uint64)


def _metres(text: str) -> int:
    """A side of the grid from `1000`, `1000m` or `1km`."""
    found = re.fullmatch(r"([1-9][0-9]{0,5})(m|km)?", text.strip(), re.ASCII)
    side = int(found[1]) * (1000 if found[2] == "km" else 1) if found else 0
    if side not in SIDES and side != LARGEST:
        raise SpatialError(
            f"inspire:{text} is no side of the European grid: give metres, 1, 2, 5, 10, 20, 25, 50 and so on up to "
            "100000, for example inspire:100, inspire:250 or inspire:1000"
        )
    return side


INDEX = Inspire
EXAMPLES = ("100", "250", "1000", "100000")
