"""The zones that flows are compared between: the lab's own, a file of polygons, or the cells of any index."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from trajlab import spatial
from trajlab.errors import UtilityError
from trajlab.grid import Box, study_area
from trajlab.spatial import StudyArea, reference
from trajlab.spatial.projection import LocalMetres
from trajlab.spatial.zone_files import read_zones
from trajlab.spatial.zone_map import geometries
from trajlab.utility.overlap import wider_than
from trajlab.utility.sides import described, identity

if TYPE_CHECKING:
    import polars as pl

    from trajlab.spatial import Cells, Polygons, SpatialIndex
    from trajlab.store import Store

TOLERANCE = 0.001
"""Share of the area of the zones that may overlap or be missing: what careful drawing leaves at borders."""
MOST = 200_000
"""Zones that a grid may have."""
_HAIR = 0.01
"""Metres: thinner overlaps and gaps are the rounding of coordinates."""
_FILES = (".geojson", ".json", ".parquet", ".geoparquet", ".pq")


@dataclass(frozen=True)
class Target:
    """Zones: their index, the id of their rows in grid.*, and all of them."""

    index: SpatialIndex
    index_id: int
    zones: Cells
    notes: tuple[str, ...] = ()

    @property
    def drawn(self) -> bool:
        """Whether somebody drew them, so that there is an outside."""
        return self.index.name.startswith("zones")


def target(store: Store, zones: str | Path | None, box: Box) -> Target:
    """What `zones` names, refused when it does not divide the study area; described in grid.index and grid.cell."""
    index, notes = _built(store, zones, box)
    found = Target(index, identity(index, "zones", list(box)), _all_zones(index, box), tuple(notes))
    described(store, index, found.index_id, found.zones, box)
    return found


def _built(store: Store, zones: str | Path | None, box: Box) -> tuple[SpatialIndex, list[str]]:
    area = study_area(store, box)
    if isinstance(zones, Path) or (zones is not None and Path(zones).suffix.lower() in _FILES):
        frame, notes = read_zones(zones)
        area = StudyArea(box=box, zones=frame)
        zones = "zones"
    else:
        notes = []
    spec = str(zones or "zones")
    if spec.partition(":")[0] == "zones":
        if area.zones is None:
            raise UtilityError(
                "the lab has no zones to compare flows between: load some with lab.geography(zones='taz.geojson'), or "
                "name a file or an index, such as zones='square:1000'"
            )
        notes += refuse_overlaps_and_gaps(area.zones)
    return spatial.build(spec, area), notes


def _all_zones(index: SpatialIndex, box: Box) -> Cells:
    """Every zone. Of grids that go on for ever, those that a lattice over the study box meets."""
    if (listed := getattr(index, "cells", None)) is not None:
        every: Cells = listed()
        return every
    west, south, east, north = box
    some = np.unique(index.assign(*_lattice(box, 16)))
    across = math.sqrt(float(np.median(index.area_km2(some)))) * 1000
    metres = np.array(LocalMetres.centred(box).forward([west, east], [south, north]))
    points = math.ceil(4 * float(np.ptp(metres, axis=1).max()) / across) + 2
    if points**2 > 16 * MOST:
        raise UtilityError(
            f"{index.name} would cut the study area into more than {MOST:,} zones: take larger ones, such as "
            "square:1000 or h3:8"
        )
    return np.unique(index.assign(*_lattice(box, points)))


def _lattice(box: Box, points: int) -> tuple[spatial.Degrees, spatial.Degrees]:
    west, south, east, north = box
    lon, lat = np.meshgrid(np.linspace(west, east, points), np.linspace(south, north, points))
    return lon.ravel(), lat.ravel()


def refuse_overlaps_and_gaps(zones: pl.DataFrame) -> list[str]:
    """Zones must divide the study area; returns a note where they nearly do."""
    import shapely

    shapes = geometries(zones)
    west, south, east, north = shapely.total_bounds(shapes).tolist()
    plane = LocalMetres.centred((west, south, east, north))
    flat = plane.to_metres(shapely.segmentize(shapes, 0.01))
    ids = zones["zone"].to_list()
    whole = float(shapely.area(flat).sum())
    notes = []
    for what, pieces, names in (
        ("overlap", *_overlaps(flat, ids)),
        ("leave gaps", *_gaps(flat, ids)),
    ):
        areas = shapely.area(pieces)
        if not len(areas):
            continue
        worst = int(np.argmax(areas))
        place = shapely.point_on_surface(pieces[worst])
        lon, lat = (float(axis) for axis in plane.inverse(shapely.get_x(place), shapely.get_y(place)))
        told = (
            f"the zones {what}: {areas.sum() / 1e6:.3g} km², {areas.sum() / whole:.2%} of their area, in "
            f"{len(areas):,} {'place' if len(areas) == 1 else 'places'}, most of it {names[worst]} near "
            f"{lat:.5f}, {lon:.5f}"
        )
        if areas.sum() > TOLERANCE * whole:
            fix = "cut one of them back" if what == "overlap" else "add the missing zone, water too"
            raise UtilityError(f"{told}; {fix}, so that every place is in one zone")
        notes.append(f"{told}; taken as it is")
    return notes


def _overlaps(flat: Polygons, ids: list[str]) -> tuple[Polygons, list[str]]:
    import shapely

    first, second = shapely.STRtree(flat).query(flat, predicate="intersects")
    first, second = first[first < second], second[first < second]
    shared = shapely.intersection(flat[first], flat[second])
    some = wider_than(shared, _HAIR)
    names = [f"between {ids[a]} and {ids[b]}" for a, b in zip(first[some], second[some], strict=True)]
    return shared[some], names


def _gaps(flat: Polygons, ids: list[str]) -> tuple[Polygons, list[str]]:
    """What zones enclose and none of them has. A bay that is open to the outside is no gap."""
    import shapely

    parts = shapely.get_parts(shapely.union_all(flat, grid_size=1e-3))
    rings, part = shapely.get_rings(parts, return_index=True)
    inner = np.r_[False, part[1:] == part[:-1]] if len(part) else np.zeros(0, bool)
    holes = np.asarray(shapely.polygons(rings[inner]), dtype=object)
    holes = holes[wider_than(holes, _HAIR)]
    tree = shapely.STRtree(flat)
    names = [
        f"beside {reference.few(ids[n] for n in sorted(tree.query(hole, predicate='intersects')))}" for hole in holes
    ]
    return holes, names
