"""Places with names, with or without coordinates: `places`, and their parents `places:1`, ...

For records that say where they are by name (an access point, a building, a stop): see
`assign_names`. A coordinate belongs to the nearest place that has coordinates; of
several at one spot, to the one whose name sorts first. A place that no coordinate can
belong to has an empty polygon and an area of NaN; without coordinates, also an anchor of NaN.

The parent of a place is its `parent`, another place or a label of its own; a place
without one stays itself while others have parents, and above the last of them one
cell holds everything. A parent's polygon is the union of its places' polygons.
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
from trajlab.spatial._tiles import Positions
from trajlab.spatial._voronoi import Sites, first_at_each_spot


class Places:
    def __init__(self, argument: str, area: StudyArea) -> None:
        if area.places is None:
            raise SpatialError("places need a table of places (place, and lat, lng if known), and the study has none")
        self._area, self._hash = area, reference.fingerprint(area.places.rows())
        self._names = area.places["place"].to_list()
        levels = reference.lineage("places", self._names, area.places["parent"].to_list())
        level = reference.split_hash("places", argument, self._hash)
        self.level = reference.level_of("places", level, levels)
        self.name = f"places:{self._hash}" + (f":{self.level}" if self.level else "")
        self._top = self.level == len(levels) - 1
        self._labels, self._first, self._cell = reference.ranked(levels[self.level])

    @property
    def settings(self) -> dict[str, object]:
        return {"level": self.level, "box": list(self._area.box)}

    def assign(self, lon: Degrees, lat: Degrees) -> Cells:
        return self._sites.assign(lon, lat)

    def assign_names(self, names: pl.Series) -> Cells:
        """The cells of places called by the names of the table, whatever the level of the index."""
        cell = names.cast(pl.String).replace_strict(self._names, self._cell, default=None, return_dtype=pl.UInt64)
        unknown = names.filter(cell.is_null())
        if len(unknown):
            listed = unknown.drop_nulls().unique().sort()
            raise SpatialError(
                f"{len(unknown)} of {len(names)} records name no place of the table"
                + (f": {reference.few(listed)}" if len(listed) else "; their place is missing")
                + "; add the places or drop the records"
            )
        return cell.to_numpy()

    def cells(self) -> Cells:
        """Every cell there is."""
        return np.arange(len(self._labels), dtype=np.uint64)

    def anchor(self, cells: Cells) -> tuple[Degrees, Degrees]:
        """The first of the cell's places that has coordinates."""
        lon, lat = self._anchors
        wanted = self._known(cells)
        return lon[wanted], lat[wanted]

    def parent(self, cells: Cells) -> Cells:
        return self._coarser._cell[self._first[self._known(cells)]].astype(np.uint64)

    def coarser(self) -> Places:
        return self._coarser

    def polygon(self, cells: Cells) -> Polygons:
        return self._shapes[self._known(cells)]

    def area_km2(self, cells: Cells) -> Degrees:
        import shapely

        flat = self._flat[self._known(cells)]
        return np.where(shapely.is_empty(flat), np.nan, shapely.area(flat) / 1e6)

    def label(self, cells: Cells) -> list[str]:
        return [self._labels[cell] for cell in self._known(cells)]

    def within(self, zones: pl.DataFrame) -> Places:
        """The same cells, with polygons clipped to these zones."""
        return Places(self.name.partition(":")[2], replace(self._area, zones=zones))

    def _known(self, cells: Cells) -> Positions:
        return known(cells, len(self._labels), self.name)

    @cached_property
    def _positions(self) -> tuple[Degrees, Degrees]:
        places = self._area.places
        assert places is not None
        return places["lng"].fill_null(np.nan).to_numpy(), places["lat"].fill_null(np.nan).to_numpy()

    @cached_property
    def _spots(self) -> Positions:
        """The places of the table that coordinates can be assigned to."""
        lon, lat = self._positions
        placed = np.flatnonzero(~np.isnan(lon))
        return placed[first_at_each_spot(lon[placed], lat[placed])]

    @cached_property
    def _anchors(self) -> tuple[Degrees, Degrees]:
        lon, lat = (np.full(len(self._labels), np.nan) for _ in range(2))
        placed = np.flatnonzero(~np.isnan(self._positions[0]))
        for place in (*placed[::-1], *self._spots[::-1]):  # the first writes last, and spots after all
            lon[self._cell[place]], lat[self._cell[place]] = (axis[place] for axis in self._positions)
        return lon, lat

    @cached_property
    def _sites(self) -> Sites:
        if not self._spots.size:
            raise SpatialError(
                f"none of the {len(self._names)} places has coordinates: only records that name a place "
                "can be gridded by places, not records with lat and lng"
            )
        lon, lat = (axis[self._spots] for axis in self._positions)
        return Sites(self._area, lon, lat, self._cell[self._spots])

    @cached_property
    def _coarser(self) -> Places:
        return self if self._top else Places(f"{self._hash}:{self.level + 1}", self._area)

    @cached_property
    def _flat(self) -> Polygons:
        """Polygons in metres."""
        import shapely

        if not self._spots.size:
            return np.full(len(self._labels), shapely.Polygon(), dtype=object)
        return self._sites.shapes(len(self._labels))

    @cached_property
    def _shapes(self) -> Polygons:
        return self._sites.plane.to_degrees(self._flat) if self._spots.size else self._flat


INDEX = Places
EXAMPLES = ("", "1")
