"""The polygons of a study: read, refused when wrong, and asked which one holds a point."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache

import numpy as np
import polars as pl

from trajlab.errors import SpatialError
from trajlab.spatial import Degrees, Polygons, StudyArea
from trajlab.spatial import _reference as reference
from trajlab.spatial._projection import LocalMetres
from trajlab.spatial._tiles import WORTH_IT, Positions, Tiles, refine


class ZoneMap:
    """The polygons of a study, sorted by id: which one a point belongs to."""

    def __init__(self, area: StudyArea) -> None:
        import shapely

        if area.zones is None:
            raise SpatialError("zones need a table of zones (zone, polygon), and the study has none")
        self.ids: list[str] = area.zones["zone"].to_list()
        self.parents: list[str | None] = area.zones["parent"].to_list()
        self._shapes = geometries(area.zones)
        wkb = shapely.to_wkb(self._shapes, hex=True, byte_order=1)
        self.hash = reference.fingerprint(zip(self.ids, self.parents, wkb, strict=True))
        shapely.prepare(self._shapes)
        self._tree = shapely.STRtree(self._shapes)
        west, south, east, north = shapely.total_bounds(self._shapes).tolist()
        self._bounds = (west, south, east, north)
        self._plane = _plane(shapely.bounds(self._shapes))
        pieces, self._owner = _borders(self._plane.to_metres(shapely.segmentize(self._shapes, 0.01)))
        self._borders = shapely.STRtree(pieces)
        lon, lat = self.anchors
        lost = np.flatnonzero(self.zone(lon, lat) != np.arange(len(self.ids)))
        if lost.size:
            raise SpatialError(
                f"{lost.size} of {len(self.ids)} zones lie wholly inside zones with smaller ids, or are too thin "
                f"to hold a point: {reference.few(self.ids[i] for i in lost)}; keep one level of zones per table"
            )

    def zone(self, lon: Degrees, lat: Degrees) -> Positions:
        """Position of the zone of each point."""
        import shapely

        found = np.full(lon.size, len(self.ids), dtype=np.int64)
        point, zone = self._tree.query(shapely.points(lon, lat))
        inside = shapely.intersects_xy(self._shapes[zone], lon[point], lat[point])
        np.minimum.at(found, point[inside], zone[inside])
        outside = np.flatnonzero(found == len(self.ids))
        if outside.size:
            places = shapely.points(*self._plane.forward(lon[outside], lat[outside]))
            point, piece = self._borders.query_nearest(places)
            np.minimum.at(found, outside[point], self._owner[piece])
        return found

    def ask(self, points: int) -> Callable[[Degrees, Degrees], Positions]:
        """The function that answers as `zone` does, fastest for so many points; threads may share it."""
        if points < WORTH_IT:
            return self.zone
        tiles, count = self._tiles, len(self.ids)

        def by_tile(lon: Degrees, lat: Degrees) -> Positions:
            found = tiles.ask(lon, lat, self.zone)
            shared = np.flatnonzero(found >= count)
            rivals = found[shared] - count
            found[shared] = self._one_of_two(lon[shared], lat[shared], rivals // count, rivals % count)
            return found

        return by_tile

    def _one_of_two(self, lon: Degrees, lat: Degrees, first: Positions, second: Positions) -> Positions:
        """As `zone`, for points that no third zone can hold."""
        import shapely

        found = first.copy()
        left = np.flatnonzero(~shapely.intersects_xy(self._shapes[first], lon, lat))
        found[left] = second[left]
        left = left[~shapely.intersects_xy(self._shapes[second[left]], lon[left], lat[left])]
        if left.size:
            found[left] = self.zone(lon[left], lat[left])
        return found

    @cached_property
    def own(self) -> Polygons:
        """Each polygon without what it shares with polygons of smaller ids."""
        import shapely

        own = self._shapes.copy()
        smaller, larger = self._tree.query(self._shapes, predicate="intersects")
        pairs = smaller < larger
        smaller, larger = smaller[pairs], larger[pairs]
        overlap = ~shapely.touches(self._shapes[smaller], self._shapes[larger])
        for one in np.unique(larger[overlap]):
            taken = shapely.union_all(self._shapes[smaller[overlap & (larger == one)]])
            own[one] = shapely.difference(own[one], taken)
        return own

    @cached_property
    def anchors(self) -> tuple[Degrees, Degrees]:
        import shapely

        points = shapely.point_on_surface(np.where(shapely.is_empty(self.own), self._shapes, self.own))
        return np.asarray(shapely.get_x(points)), np.asarray(shapely.get_y(points))

    @cached_property
    def _tiles(self) -> Tiles:
        levels = int(np.clip(np.ceil(np.log2(16 * np.sqrt(len(self.ids)))), 6, 10))
        west, _, east, _ = self._bounds
        return refine(self._bounds, levels, lambda boxes: self._all_over(boxes, 1.5 * (east - west) / 2**levels))

    def _all_over(self, boxes: Degrees, small: float) -> Positions:
        """The zone that covers each box, if no zone with a smaller id comes near, or -1.

        A small box that just two zones touch gets both of them in one number.
        """
        import shapely

        count = len(self.ids)
        squares = shapely.box(*boxes.T)
        box, zone = self._tree.query(squares)
        touch = shapely.intersects(self._shapes[zone], squares[box])
        box, zone = box[touch], zone[touch]
        first, last = np.full(len(boxes), count), np.full(len(boxes), -1)
        np.minimum.at(first, box, zone)
        np.maximum.at(last, box, zone)
        two = (np.bincount(box, minlength=len(boxes)) == 2) & (boxes[:, 2] - boxes[:, 0] < small)
        answer = np.where(two, count + first * count + last, -1)
        one = zone == first[box]
        box, zone = box[one], zone[one]
        covered = shapely.covers(self._shapes[zone], squares[box])
        answer[box[covered]] = zone[covered]
        return answer


def _plane(bounds: Degrees) -> LocalMetres:
    """Around the middle of all bounds, on the side of the antimeridian that has them closest together."""
    west, south, east, north = bounds.T
    turned = np.where(
        (east[:, None] <= 0) & (np.ptp(bounds[:, [0, 2]]) > 180), bounds[:, [0, 2]] + 360, bounds[:, [0, 2]]
    )
    if np.ptp(turned) < np.ptp(bounds[:, [0, 2]]):
        west, east = turned.T
    return LocalMetres.amid((west.min(), south.min(), east.max(), north.max()))


@lru_cache(maxsize=2)
def zone_map(area: StudyArea) -> ZoneMap:
    """One map for all levels of a study's zones."""
    return ZoneMap(area)


def geometries(zones: pl.DataFrame) -> Polygons:
    """The polygons of a checked table of zones; refused unless valid, of area and in degrees."""
    import shapely

    shapes = shapely.force_2d(shapely.from_wkb(zones["polygon"].to_numpy(), on_invalid="ignore"))
    bounds = shapely.bounds(shapes)
    off = ~((np.abs(bounds[:, [0, 2]]) <= 180).all(axis=1) & (np.abs(bounds[:, [1, 3]]) <= 90).all(axis=1))
    for wrong, why in (
        (shapely.is_missing(shapes) | ~np.isin(shapely.get_type_id(shapes), [3, 6]), "are not polygons"),
        (shapely.is_empty(shapes), "are empty"),
        (off, "are not in degrees of longitude and latitude"),
        (~shapely.is_valid(shapes), "are not valid polygons (they cross themselves, for instance)"),
    ):
        if wrong.any():
            ids = zones["zone"].filter(pl.Series(wrong))
            raise SpatialError(f"{len(ids)} of {len(zones)} zones {why}: {reference.few(ids)}; mend or drop them")
    return np.asarray(shapes, dtype=object)


def _borders(shapes: Polygons) -> tuple[Polygons, Positions]:
    """Every straight piece of the borders, and whose it is: nearest pieces are found faster than nearest shapes."""
    import shapely

    parts, shape = shapely.get_parts(shapes, return_index=True)
    rings, part = shapely.get_rings(parts, return_index=True)
    corners, ring = shapely.get_coordinates(rings, return_index=True)
    within = ring[1:] == ring[:-1]
    pieces = shapely.linestrings(np.stack([corners[:-1][within], corners[1:][within]], axis=1))
    return np.asarray(pieces, dtype=object), shape[part[ring[:-1][within]]]
