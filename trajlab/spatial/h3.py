"""H3 hexagons: `h3:8`, resolutions 0 to 15.

Hexagons do not tile their parents exactly: about 7 % of points lie in another cell of
`coarser()` than the parent of their own. The 122 cells of resolution 0 have no cell
above them; each is its own parent.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import polars as pl

from trajlab.errors import SpatialError
from trajlab.spatial import Cells, Degrees, Polygons, StudyArea
from trajlab.spatial._blocks import assign_in_blocks, refuse_unknown
from trajlab.spatial._globe import cut
from trajlab.spatial._projection import area_km2

_EDGE_KM = 1281.0  # of resolution 0; each resolution is finer by the square root of 7


class H3:
    def __init__(self, argument: str, area: StudyArea) -> None:
        if not (argument.isascii() and argument.isdigit() and int(argument) <= 15):
            raise SpatialError(f"h3:{argument} has no usable resolution: give 0 to 15, for example h3:8")
        self.resolution = int(argument)
        self.name = f"h3:{self.resolution}"
        self._area = area

    @property
    def settings(self) -> dict[str, object]:
        return {"resolution": self.resolution}

    def assign(self, lon: Degrees, lat: Degrees) -> Cells:
        return assign_in_blocks(lon, lat, self._place)

    def anchor(self, cells: Cells) -> tuple[Degrees, Degrees]:
        import polars_h3

        ids = pl.DataFrame({"cell": self._known(cells)})
        centre = ids.select(lon=polars_h3.cell_to_lng("cell"), lat=polars_h3.cell_to_lat("cell"))
        return centre["lon"].to_numpy(), centre["lat"].to_numpy()

    def parent(self, cells: Cells) -> Cells:
        import polars_h3

        ids = self._known(cells)
        if self.resolution == 0:
            return ids
        above = pl.DataFrame({"cell": ids}).select(polars_h3.cell_to_parent("cell", self.resolution - 1))
        return above.to_series().cast(pl.UInt64).to_numpy()

    def coarser(self) -> H3:
        return H3(str(max(0, self.resolution - 1)), self._area)

    def polygon(self, cells: Cells) -> Polygons:
        """Cells across the antimeridian come in two parts; edges follow great circles in steps of 10 km or less."""
        from h3.api import basic_int

        steps = math.ceil(_EDGE_KM / 7 ** (self.resolution / 2) / 10)
        shapes = [_drawn(basic_int.cell_to_boundary(cell), steps) for cell in self._known(cells).tolist()]
        polygons = np.empty(len(shapes), dtype=object)
        polygons[:] = shapes
        return polygons

    def area_km2(self, cells: Cells) -> Degrees:
        return area_km2(self.polygon(cells))

    def label(self, cells: Cells) -> list[str]:
        return [f"{cell:x}" for cell in self._known(cells).tolist()]

    def _place(self, lon: Degrees, lat: Degrees) -> Cells:
        import polars_h3

        points = pl.DataFrame({"lat": lat, "lon": lon})
        cell = polars_h3.latlng_to_cell("lat", "lon", self.resolution, return_dtype=pl.UInt64)
        return points.select(cell).to_series().to_numpy()

    def _known(self, cells: npt.ArrayLike) -> Cells:
        import polars_h3

        ids = np.asarray(cells).astype(np.uint64, copy=False)
        found = pl.DataFrame({"cell": ids}).select(
            valid=polars_h3.is_valid_cell("cell").fill_null(value=False),
            resolution=polars_h3.get_resolution("cell"),
        )
        right = found["valid"] & (found["resolution"] == self.resolution).fill_null(value=False)
        refuse_unknown(~right.to_numpy(), self.name)
        return ids


def _drawn(boundary: tuple[tuple[float, float], ...], steps: int) -> object:
    """A polygon in degrees from corners (lat, lng), cut at the antimeridian and closed over a pole."""
    import shapely

    lat, lon = np.array([*boundary, boundary[0]]).T
    if steps > 1:
        lon, lat = _great_circles(lon, lat, steps)
    if np.ptp(lon) < 180:
        return shapely.Polygon(np.column_stack([lon, lat]))
    lon = np.unwrap(lon, period=360)
    if abs(lon[-1] - lon[0]) > 180:  # once around a pole
        pole = math.copysign(90, float(lat.mean()))
        lon, lat = np.append(lon, [lon[-1], lon[0]]), np.append(lat, [pole, pole])
    else:
        lon[-1] = lon[0]  # unwrapping left a rounding error, which would make the ring cross itself
    return cut(shapely.Polygon(np.column_stack([lon, lat])))


def _great_circles(lon: Degrees, lat: Degrees, steps: int) -> tuple[Degrees, Degrees]:
    """The closed line with every edge cut into equal steps along the great circle."""
    lam, phi = np.radians(lon), np.radians(lat)
    corners = np.stack([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)], axis=1)
    share = np.arange(steps)[:, None] / steps
    edges = [start * (1 - share) + end * share for start, end in pairwise(corners)]
    x, y, z = np.concatenate([*edges, corners[-1:]]).T
    return np.degrees(np.arctan2(y, x)), np.degrees(np.arctan2(z, np.hypot(x, y)))


INDEX = H3
EXAMPLES = ("8", "0", "11")
