"""The zones that flows are compared between: the lab's own, a file of polygons, or the cells of any index."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from trajlab import spatial
from trajlab.errors import UtilityError
from trajlab.release.box import Box
from trajlab.release.grid import study_area
from trajlab.spatial import StudyArea
from trajlab.spatial import _reference as reference
from trajlab.spatial._projection import LocalMetres
from trajlab.spatial._zone_files import read_zones
from trajlab.spatial._zone_map import geometries
from trajlab.utility.overlap import wider_than
from trajlab.utility.sides import described, identity

if TYPE_CHECKING:
    import polars as pl
    from shapely import Geometry

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
    """Zones: what whoever asked calls them, their index, the id of their rows in grid.*, and all of them."""

    called: str
    index: SpatialIndex
    index_id: int
    zones: Cells
    region: pl.DataFrame
    """How far they go: a table of zones, for the cells of a grid one rectangle around them."""
    drawn: bool
    """Whether somebody drew them, so that there is an outside."""
    notes: tuple[str, ...] = ()

    def clipping(self, index: SpatialIndex) -> SpatialIndex:
        """The index with polygons as far as these zones go: those of nearest sites would go on for ever."""
        within = getattr(index, "within", None)
        clipped: SpatialIndex = index if within is None else within(self.region)
        return clipped


def target(store: Store, zones: str | Path | None, box: Box) -> Target:
    """What `zones` names, refused when it does not divide the study area; described in grid.index and grid.cell."""
    if zones is not None and not isinstance(zones, str | Path):
        raise UtilityError(
            f"zones are an index such as 'square:1000', a file, or None for the lab's own, not {zones!r}"
        )
    if box[2] > 180:
        raise UtilityError(
            f"the study box from longitude {box[0]:g} to {box[2] - 360:g} lies across the antimeridian, "
            "where flows between zones are not compared: release each side with a box of its own"
        )
    spec, area, notes = _parse_zones(store, zones or "zones", box)
    index = spatial.build(spec, area)
    every = _all_zones(index, box)
    drawn = area.zones if spec.startswith("zones") else None
    region = _rectangle(index.polygon(every)) if drawn is None else drawn
    index_id = identity(index, "zones", list(box))
    described(store, index, index_id, every, box)
    called = spec if zones is None or spec == zones else Path(zones).name
    return Target(called, index, index_id, every, region, drawn is not None, tuple(notes))


def _parse_zones(store: Store, zones: str | Path, box: Box) -> tuple[str, StudyArea, list[str]]:
    """The index that the zones are cells of, what it is built on, and notes on a file."""
    if isinstance(zones, Path) or Path(zones).suffix.lower() in _FILES:
        frame, notes = read_zones(zones)
        return "zones", StudyArea(box=box, zones=frame), [*notes, *refuse_overlaps_and_gaps(frame, box)]
    area = study_area(store, box)
    kind = zones.partition(":")[0]
    if kind not in spatial.names() and (Path(zones).suffix or Path(zones).exists()):
        raise UtilityError(
            f"{Path(zones).name} is no file of zones: they are read from GeoJSON (.geojson) and GeoParquet (.parquet), "
            "so convert it, or name an index such as 'square:1000'"
        )
    if kind != "zones":
        return zones, area, []
    if area.zones is None:
        raise UtilityError(
            "the lab has no zones to compare flows between: load some with lab.geography(zones='taz.geojson'), or "
            "name a file or an index, such as zones='square:1000'"
        )
    return zones, area, refuse_overlaps_and_gaps(area.zones, box)


def _rectangle(shapes: Polygons) -> pl.DataFrame:
    import polars as pl
    import shapely

    return pl.DataFrame({"zone": ["all"], "polygon": [shapely.to_wkb(shapely.box(*shapely.total_bounds(shapes)))]})


def _all_zones(index: SpatialIndex, box: Box) -> Cells:
    """Every zone. Of grids that go on for ever, those that have a part of the study box."""
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
    return _with_border(index, np.unique(index.assign(*_lattice(box, points))), box)


def _with_border(index: SpatialIndex, zones: Cells, box: Box) -> Cells:
    """The zones, and those that reach into the box by less than the lattice is wide."""
    import shapely

    border = shapely.box(*box).exterior
    while True:
        shapes = index.polygon(zones)
        covered = shapely.union_all(shapes[shapely.intersects(shapes, border)])
        left = shapely.get_parts(shapely.difference(border, covered))
        middle = shapely.line_interpolate_point(left[~shapely.is_empty(left)], 0.5, normalized=True)
        more = np.setdiff1d(index.assign(shapely.get_x(middle), shapely.get_y(middle)), zones)
        if not len(more):
            return zones
        zones = np.union1d(zones, more)


def _lattice(box: Box, points: int) -> tuple[spatial.Degrees, spatial.Degrees]:
    west, south, east, north = box
    lon, lat = np.meshgrid(np.linspace(west, east, points), np.linspace(south, north, points))
    return lon.ravel(), lat.ravel()


def refuse_overlaps_and_gaps(zones: pl.DataFrame, box: Box) -> list[str]:
    """Zones must divide the study area; returns notes where they nearly do, and on what of the box they leave out."""
    import shapely

    shapes = geometries(zones)
    west, south, east, north = shapely.total_bounds(shapes).tolist()
    plane = LocalMetres.centred((west, south, east, north))
    flat = plane.to_metres(shapely.segmentize(shapes, 0.01))
    ids = zones["zone"].to_list()
    whole = float(shapely.area(flat).sum())
    union = shapely.union_all(flat, grid_size=1e-3)
    notes = []
    for what, pieces, names in (
        ("overlap", *_overlaps(flat, ids)),
        ("leave gaps", *_gaps(union, flat, ids)),
    ):
        areas = shapely.area(pieces)
        if not len(areas):
            continue
        worst = int(np.argmax(areas))
        place = shapely.point_on_surface(pieces[worst])
        lon, lat = (float(axis) for axis in plane.inverse(shapely.get_x(place), shapely.get_y(place)))
        finding = (
            f"the zones {what}: {areas.sum() / 1e6:.3g} km², {areas.sum() / whole:.2%} of their area, in "
            f"{len(areas):,} {'place' if len(areas) == 1 else 'places'}, most of it {names[worst]} near "
            f"{lat:.5f}, {lon:.5f}"
        )
        if areas.sum() > TOLERANCE * whole:
            fix = "cut one of them back" if what == "overlap" else "add the missing zone, water too"
            raise UtilityError(f"{finding}; {fix}, so that every place is in one zone")
        notes.append(f"{finding}; taken as it is")
    (study,) = plane.to_metres(shapely.segmentize(np.array([shapely.box(*box)]), 0.01))
    left = 1 - shapely.area(shapely.intersection(union, study)) / shapely.area(study) if shapely.area(study) else 0.0
    if left > TOLERANCE:
        notes.append(
            f"{left:.1%} of the study box is in no zone: water, or a zone that is missing; what cells have there is "
            "left out of their shares"
        )
    return notes


def _overlaps(flat: Polygons, ids: list[str]) -> tuple[Polygons, list[str]]:
    import shapely

    first, second = shapely.STRtree(flat).query(flat, predicate="intersects")
    first, second = first[first < second], second[first < second]
    shared = shapely.intersection(flat[first], flat[second])
    some = wider_than(shared, _HAIR)
    names = [f"between {ids[a]} and {ids[b]}" for a, b in zip(first[some], second[some], strict=True)]
    return shared[some], names


def _gaps(union: Geometry, flat: Polygons, ids: list[str]) -> tuple[Polygons, list[str]]:
    """What zones enclose and none of them has. A bay that is open to the outside is no gap."""
    import shapely

    parts = shapely.get_parts(union)
    rings, part = shapely.get_rings(parts, return_index=True)
    inner = np.r_[False, part[1:] == part[:-1]] if len(part) else np.zeros(0, bool)
    holes = np.asarray(shapely.polygons(rings[inner]), dtype=object)
    holes = holes[wider_than(holes, _HAIR)]
    tree = shapely.STRtree(flat)
    names = [
        f"beside {reference.few(ids[n] for n in sorted(tree.query(hole, predicate='intersects')))}" for hole in holes
    ]
    return holes, names
