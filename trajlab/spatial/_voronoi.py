"""Cells made of sites: a point belongs to the cell of the nearest site, in local metres.

Sites come in the order of their ids. Where two are equally near, to a micrometre, the
first wins. A cell may hold several sites; its polygon is then the union of theirs.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from trajlab.spatial import Cells, Degrees, Polygons, StudyArea
from trajlab.spatial._blocks import assign_in_blocks
from trajlab.spatial._globe import beside
from trajlab.spatial._projection import RADIUS, LocalMetres, only_polygons
from trajlab.spatial._tiles import WORTH_IT, Positions, Tiles, refine

if TYPE_CHECKING:
    from shapely import Geometry

_TIE = 1e-6
_MARGIN_SHARE, _MARGIN_DEGREES = 0.1, 0.01


class Sites:
    """`cell[i]` is the position of the cell that site i belongs to; no two sites may share a spot."""

    def __init__(self, area: StudyArea, lon: Degrees, lat: Degrees, cell: Positions) -> None:
        from scipy.spatial import cKDTree

        self.plane = LocalMetres.centred(area.box)
        self.lon, self.lat, self.cell = lon, lat, cell
        self.xy = np.column_stack(self.plane.forward(lon, lat))
        self._tree = cKDTree(self.xy)
        self._area = area

    def assign(self, lon: Degrees, lat: Degrees) -> Cells:
        if np.size(lon) >= WORTH_IT:
            tiles = self._tiles  # built here, once, and not in every thread
            return assign_in_blocks(
                lon, lat, lambda x, y: self._cells(tiles.ask(beside(x, tiles.box), y, self.nearest))
            )
        return assign_in_blocks(lon, lat, lambda x, y: self._cells(self.nearest(x, y)))

    def nearest(self, lon: Degrees, lat: Degrees) -> Positions:
        """Position of the nearest site; of those equally near, the first."""
        return self._first_of_ties(np.column_stack(self.plane.forward(lon, lat)), 2)

    def shapes(self, count: int) -> Polygons:
        """Polygons in metres of cells 0 to count-1, clipped to the study region; empty for a cell without sites."""
        import shapely

        region = study_region(self._area, self.lon, self.lat, self.plane)
        shapely.prepare(region)
        whole = _regions(self.xy, np.array(shapely.bounds(region)))
        cells = np.full(count, shapely.Polygon(), dtype=object)
        order = np.argsort(self.cell, kind="stable")
        for members in np.split(order, np.flatnonzero(np.diff(self.cell[order])) + 1):
            union = whole[members[0]] if len(members) == 1 else shapely.union_all(whole[members])
            inside = shapely.contains_properly(region, union)
            cells[self.cell[members[0]]] = union if inside else only_polygons(shapely.intersection(union, region))
        return cells

    def _cells(self, site: Positions) -> Cells:
        return self.cell.take(site).astype(np.uint64)

    def _first_of_ties(self, xy: Degrees, k: int) -> Positions:
        distance, site = self._tree.query(xy, k=k)
        tied = distance <= distance[:, :1] + _TIE
        first: Positions = np.where(tied, site, len(self.xy)).min(axis=1).astype(np.int64)
        more = np.flatnonzero(tied[:, -1])
        if more.size and k < len(self.xy):
            first[more] = self._first_of_ties(xy[more], 4 * k)
        return first

    @cached_property
    def _tiles(self) -> Tiles:
        west, south, east, north = extended(self._area.box, self.lon, self.lat)
        levels = int(np.clip(np.ceil(np.log2(16 * np.sqrt(len(self.xy)))), 5, 11))
        return refine((west, south, east, north), levels, self._nearest_all_over)

    def _nearest_all_over(self, boxes: Degrees) -> Positions:
        """The site nearest to every point of each box, or -1.

        The points nearer to one site than to any other by some metres form a convex
        set. If it holds the four corners, it holds the box, up to the bow of its sides.
        """
        corners = boxes[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 2)
        x, y = self.plane.forward(corners[:, 0], corners[:, 1])
        distance, site = self._tree.query(np.column_stack([x, y]), k=2)
        x, y = x.reshape(-1, 4), y.reshape(-1, 4)
        across = np.ptp(x, axis=1) ** 2 + np.ptp(y, axis=1) ** 2
        steep = np.abs(np.tan(np.radians(boxes[:, [1, 3]]))).max(axis=1)
        bow = across * (1 + steep) / (4 * RADIUS)
        lead = (distance[:, 1] - distance[:, 0]).reshape(-1, 4).min(axis=1)
        site = site[:, 0].reshape(-1, 4)
        sure = (site == site[:, :1]).all(axis=1) & (lead > 2 * bow + 1e-3)
        return np.where(sure, site[:, 0], -1).astype(np.int64)


def first_at_each_spot(lon: Degrees, lat: Degrees) -> Positions:
    """Positions, in order, of the first of those that coincide to a millionth of a degree (0.1 m)."""
    spots = np.round(np.column_stack([np.where(lon == -180, 180, lon), lat]), 6) + 0.0
    return np.sort(np.unique(spots, axis=0, return_index=True)[1]).astype(np.int64)


def extended(box: tuple[float, float, float, float], lon: Degrees, lat: Degrees) -> tuple[float, float, float, float]:
    """The box grown to hold every site, and then by 10 % each way, 0.01 degrees at least."""
    lon = beside(lon, box)
    low = np.minimum(box[:2], [lon.min(), lat.min()])
    high = np.maximum(box[2:], [lon.max(), lat.max()])
    margin = np.maximum(_MARGIN_SHARE * (high - low), _MARGIN_DEGREES)
    across = high[0] > 180 or low[0] < -180
    west, south = np.maximum(low - margin, [-540 if across else -180, -90])
    east, north = np.minimum(high + margin, [540 if across else 180, 90])
    return float(west), float(south), float(east), float(north)


def study_region(area: StudyArea, lon: Degrees, lat: Degrees, plane: LocalMetres) -> Geometry:
    """What cells are clipped to, in metres: the union of the zones, else the box `extended` to the sites."""
    import shapely

    if area.zones is None:
        region = shapely.box(*extended(area.box, lon, lat))
        fine = shapely.segmentize(region, max(np.ptp(shapely.bounds(region)[::2]), 0.01) / 64)
    else:
        from trajlab.spatial._zone_map import geometries

        # a grid of a tenth of a millimetre closes the slits between borders drawn twice
        fine = shapely.segmentize(shapely.union_all(geometries(area.zones), grid_size=1e-9), 0.01)
    return plane.to_metres(np.array([fine], dtype=object))[0]


def _regions(xy: Degrees, bounds: npt.NDArray[np.float64]) -> Polygons:
    """The whole Voronoi polygon of each site; eight far sites around the region bound the outer ones."""
    import shapely
    from scipy.spatial import Voronoi

    low, high = np.minimum(xy.min(axis=0), bounds[:2]), np.maximum(xy.max(axis=0), bounds[2:])
    turn = np.arange(8) * np.pi / 4
    far = (low + high) / 2 + 8 * np.hypot(*(high - low)) * np.column_stack([np.cos(turn), np.sin(turn)])
    diagram = Voronoi(np.concatenate([xy, far]))
    corners = [diagram.regions[region] for region in diagram.point_region[: len(xy)]]
    ring = np.repeat(np.arange(len(xy)), [len(each) for each in corners])
    rings = shapely.linearrings(diagram.vertices[np.concatenate(corners)], indices=ring)
    return np.asarray(shapely.polygons(rings), dtype=object)
