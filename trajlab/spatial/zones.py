"""Polygons such as traffic zones or districts: `zones`, and their parents `zones:1`, `zones:2`, ...

A point belongs to the zone that holds it; on a shared border, or where zones overlap,
to the zone with the smaller id; outside every zone, to the nearest one in metres.
The polygon of a zone is what it does not lose to zones with smaller ids.

The parent of a zone is its `parent`, a label or another zone; a zone without one stays
itself while others have parents, and above the last of them one cell holds everything.
`zones:1` is the index of the parents, each the union of its zones.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from trajlab.spatial import Cells, Degrees, Polygons, StudyArea
from trajlab.spatial import _reference as reference
from trajlab.spatial._blocks import assign_in_blocks, known
from trajlab.spatial._projection import area_km2
from trajlab.spatial._tiles import Positions
from trajlab.spatial._zone_files import read_zones
from trajlab.spatial._zone_map import zone_map

__all__ = ["EXAMPLES", "INDEX", "Zones", "read_zones"]


class Zones:
    def __init__(self, argument: str, area: StudyArea) -> None:
        self._map = zone_map(area)
        levels = reference.lineage("zones", self._map.ids, self._map.parents)
        self.level = reference.level_of("zones", reference.split_hash("zones", argument, self._map.hash), levels)
        self.name = f"zones:{self._map.hash}" + (f":{self.level}" if self.level else "")
        self._area, self._top = area, self.level == len(levels) - 1
        self._labels, self._first, self._cell = reference.ranked(levels[self.level])

    @property
    def settings(self) -> dict[str, object]:
        return {"level": self.level, "box": list(self._area.box)}

    def assign(self, lon: Degrees, lat: Degrees) -> Cells:
        ask = self._map.ask(np.size(lon))
        return assign_in_blocks(lon, lat, lambda *part: self._cell.take(ask(*part)).astype(np.uint64))

    def cells(self) -> Cells:
        """Every cell there is."""
        return np.arange(len(self._labels), dtype=np.uint64)

    def anchor(self, cells: Cells) -> tuple[Degrees, Degrees]:
        lon, lat = self._map.anchors
        zone = self._first[self._known(cells)]
        return lon[zone], lat[zone]

    def parent(self, cells: Cells) -> Cells:
        return self._coarser._cell[self._first[self._known(cells)]].astype(np.uint64)

    def coarser(self) -> Zones:
        return self._coarser

    def polygon(self, cells: Cells) -> Polygons:
        return self._polygons[self._known(cells)]

    def area_km2(self, cells: Cells) -> Degrees:
        return area_km2(self.polygon(cells))

    def label(self, cells: Cells) -> list[str]:
        return [self._labels[cell] for cell in self._known(cells)]

    def _known(self, cells: Cells) -> Positions:
        return known(cells, len(self._labels), self.name)

    @cached_property
    def _coarser(self) -> Zones:
        return self if self._top else Zones(f"{self._map.hash}:{self.level + 1}", self._area)

    @cached_property
    def _polygons(self) -> Polygons:
        import shapely

        own = self._map.own
        unions = np.empty(len(self._labels), dtype=object)
        for cell in range(len(unions)):
            members = own[self._cell == cell]
            unions[cell] = members[0] if len(members) == 1 else shapely.union_all(members)
        return unions


INDEX = Zones
EXAMPLES = ("", "1")
