"""The nearest mast: `stations`, or `stations:800` with masts merged by squares of 800 m (yin2015).

Masts at one spot, to a millionth of a degree, are one cell under the smallest of their
ids. Merging puts the masts that fall in one square of the side in one cell, again
named after the smallest id; the squares count from a corner south-west of all masts
that does not depend on the side, so merging by twice the side merges whole cells.
`stations` generalises to `stations:200`, `stations:m` to `stations:2m`, up to one cell.

Polygons are clipped to the union of the study's zones where there are zones, else to
the study box grown to hold every mast and then by 10 % each way. A mast outside the
zones keeps its points; its polygon is what it has of the zones, perhaps nothing.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
import polars as pl

from trajlab.errors import SpatialError
from trajlab.spatial import Cells, Degrees, Polygons, StudyArea
from trajlab.spatial import _reference as reference
from trajlab.spatial._blocks import known
from trajlab.spatial._projection import LocalMetres
from trajlab.spatial._tiles import Positions
from trajlab.spatial._voronoi import Sites, first_at_each_spot
from trajlab.spatial.square import metres

_FIRST_SIDE = 200.0


class Stations:
    def __init__(self, argument: str, area: StudyArea) -> None:
        if area.stations is None:
            raise SpatialError("stations need a table of stations (station, lat, lng), and the study has none")
        found = reference.fingerprint(area.stations.rows())
        side = reference.split_hash("stations", argument, found)
        self.side = metres("stations", side) if side else None
        self.name = f"stations:{found}" + (f":{self.side:.15g}" if self.side else "")
        self._area, self._hash = area, found

        ids, lat, lon = (area.stations[column].to_numpy() for column in ("station", "lat", "lng"))
        first = first_at_each_spot(lon, lat)
        self._ids, self._lon, self._lat = ids[first], lon[first], lat[first]
        spot = np.arange(len(first))
        self._first, cell = spot, spot
        if self.side is not None:
            plane = LocalMetres.centred(area.box)
            self._first, cell = merged(np.column_stack(plane.forward(self._lon, self._lat)), self.side)
        self._sites = Sites(area, self._lon, self._lat, cell)

    @property
    def settings(self) -> dict[str, object]:
        clipped = (
            "box"
            if self._area.zones is None
            else reference.fingerprint((zone, polygon.hex()) for zone, _, polygon in self._area.zones.rows())
        )
        return {"side_m": self.side, "box": list(self._area.box), "clipped_to": clipped}

    def assign(self, lon: Degrees, lat: Degrees) -> Cells:
        return self._sites.assign(lon, lat)

    def cells(self) -> Cells:
        """Every cell there is."""
        return np.arange(len(self._first), dtype=np.uint64)

    def anchor(self, cells: Cells) -> tuple[Degrees, Degrees]:
        """The mast that names the cell."""
        mast = self._first[self._known(cells)]
        return self._lon[mast], self._lat[mast]

    def parent(self, cells: Cells) -> Cells:
        return self._coarser._sites.cell[self._first[self._known(cells)]].astype(np.uint64)

    def coarser(self) -> Stations:
        return self._coarser

    def polygon(self, cells: Cells) -> Polygons:
        return self._sites.plane.to_degrees(self._shapes[self._known(cells)])

    def area_km2(self, cells: Cells) -> Degrees:
        import shapely

        return np.asarray(shapely.area(self._shapes[self._known(cells)]) / 1e6, dtype=np.float64)

    def label(self, cells: Cells) -> list[str]:
        return [str(name) for name in self._ids[self._first[self._known(cells)]]]

    def within(self, zones: pl.DataFrame) -> Stations:
        """The same cells, with polygons clipped to these zones."""
        return Stations(self.name.partition(":")[2], replace(self._area, zones=zones))

    def _known(self, cells: Cells) -> Positions:
        return known(cells, len(self._first), self.name)

    @cached_property
    def _coarser(self) -> Stations:
        if len(self._first) == 1 and self.side is not None:
            return self
        return Stations(f"{self._hash}:{2 * self.side if self.side else _FIRST_SIDE:.15g}", self._area)

    @cached_property
    def _shapes(self) -> Polygons:
        return self._sites.shapes(len(self._first))


def merged(xy: Degrees, side: float) -> tuple[Positions, Positions]:
    """The first mast of each cell, and the cell of each mast: masts of one square are one cell."""
    square = np.floor((xy - (np.floor(xy.min(axis=0)) - 1)) / side)
    _, first, cell = np.unique(square, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)  # cells in the order of their first mast, not of their square
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[cell.ravel()]


INDEX = Stations
EXAMPLES = ("", "5000")
