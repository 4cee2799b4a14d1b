"""Degrees to metres, with areas kept.

Lambert's azimuthal equal-area projection of the WGS 84 ellipsoid, centred on the
study area. Within 300 km of the centre lengths are true to about 3 parts in 10,000,
areas everywhere. Both ways are a handful of numpy passes. The way to metres is tested
against pyproj to a micrometre, the way back against the way there: pyproj's own way
back is off by about a millimetre.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trajlab.errors import SpatialError
from trajlab.spatial._globe import cut

if TYPE_CHECKING:
    from shapely import Geometry

    from trajlab.spatial import Degrees, Polygons

_A = 6378137.0
_E2 = (2 - 1 / 298.257223563) / 298.257223563
# The sine of the authalic latitude is s * (c0 + c1 s² + c2 s⁴ + ...) with s the sine of the
# geodetic one: the series of q(s)/q(1), whose terms fall by 150 each; nine reach rounding.
_TERMS = [(2 * n + 2) / (2 * n + 1) * _E2**n for n in range(9)]
_AUTHALIC = [term / math.fsum(_TERMS) for term in _TERMS]
WIDEST = 60.0
NEAREST_POLE = 89.0
_ROUND_THE_POLE = 60.0
RADIUS = _A * math.sqrt((1 - _E2) * math.fsum(_TERMS) / 2)
"""Metres: radius of the sphere with the area of the ellipsoid."""
_FAR = 4 * RADIUS


@dataclass(frozen=True)
class LocalMetres:
    """Metres east and north of (lon0, lat0)."""

    lon0: float
    lat0: float

    @classmethod
    def centred(cls, box: tuple[float, float, float, float]) -> LocalMetres:
        """Around the middle of a study box, which one plane must be able to show."""
        west, south, east, north = box
        if max(east - west, north - south) > WIDEST:
            raise SpatialError(
                f"local metres need a study box of at most {WIDEST:g} degrees each way, this one has "
                f"{east - west:g} by {north - south:g}; narrow the box or use h3"
            )
        if max(-south, north) > NEAREST_POLE:
            raise SpatialError(
                f"local metres need a study box between {-NEAREST_POLE:g} and {NEAREST_POLE:g} degrees of latitude, "
                f"this one goes from {south:g} to {north:g}; cut it off before the pole or use h3"
            )
        return cls.amid(box)

    @classmethod
    def amid(cls, box: tuple[float, float, float, float]) -> LocalMetres:
        """Around the middle of any study box; around the pole, where a box goes most of the way round it."""
        west, south, east, north = box
        if east - west > 180 and (south > _ROUND_THE_POLE or north < -_ROUND_THE_POLE):
            return cls(0.0, math.copysign(90.0, north))
        lon0 = (west + east) / 2
        return cls(lon0 - 360 if lon0 > 180 else lon0, (south + north) / 2)

    def forward(self, lon: npt.ArrayLike, lat: npt.ArrayLike) -> tuple[Degrees, Degrees]:
        """Metres (x, y). The point opposite the centre of the globe has no place and gets a far one."""
        turn = np.atleast_1d(np.subtract(lon, self.lon0, dtype=np.float64))
        turn *= math.pi / 180
        sine = authalic_sine(np.atleast_1d(lat))
        cosine = np.multiply(sine, -sine)
        cosine += 1
        np.sqrt(np.maximum(cosine, 0, out=cosine), out=cosine)
        sine0, cosine0, stretch = self._centre
        across = np.sin(turn)
        across *= cosine
        cosine *= np.cos(turn, out=turn)
        scale = cosine * cosine0
        scale += sine * sine0
        scale += 1
        np.divide(2 * RADIUS**2, np.maximum(scale, 1e-12, out=scale), out=scale)
        np.sqrt(scale, out=scale)
        sine *= cosine0
        cosine *= sine0
        sine -= cosine
        scale *= stretch
        across *= scale
        scale /= stretch**2
        sine *= scale
        return across, sine

    def inverse(self, x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Degrees, Degrees]:
        """Degrees (lon, lat)."""
        sine0, cosine0, stretch = self._centre
        x = np.divide(x, RADIUS * stretch, dtype=np.float64)
        y = np.multiply(y, stretch / RADIUS, dtype=np.float64)
        half = (x * x + y * y) / 4  # squared sine of half the angle from the centre
        along, reach = 1 - 2 * half, np.sqrt(np.maximum(1 - half, 0))
        authalic = along * sine0 + y * reach * cosine0
        turn = np.arctan2(x * reach, along * cosine0 - y * reach * sine0)
        lon = np.remainder(np.degrees(turn) + (self.lon0 + 180), 360) - 180
        sine = authalic
        for _ in range(3):  # Newton's steps; each squares an error that starts below 0.003
            slope = 2 / (math.fsum(_TERMS) * (1 - _E2 * sine * sine) ** 2)
            sine = sine - (_authalic(sine) - authalic) / slope
        return lon, np.degrees(np.arcsin(np.clip(sine, -1, 1)))

    def to_degrees(self, geometries: Polygons) -> Polygons:
        """Shapely geometries in metres, in degrees; edges are cut every 2 km, as they bend on the way.

        What lies across the antimeridian comes in parts.
        """
        import shapely

        fine = np.asarray(shapely.segmentize(geometries, 2000), dtype=object)
        west, _, east, _ = shapely.bounds(moved := _moved(fine, self.inverse)).T
        for one in np.flatnonzero(east - west > 180):
            moved[one] = self._round_the_globe(fine[one])
        return _mended(moved)

    def _round_the_globe(self, shape: Geometry) -> Geometry:
        """In degrees, each half of it from its own side; a millimetre around a pole inside is left out."""
        import shapely

        pole = shapely.Point(*np.ravel(self.forward([self.lon0], [math.copysign(90.0, self.lat0)])))
        shape = shapely.difference(shape, shapely.box(*shapely.bounds(shapely.buffer(pole, 1e-3))))
        _, south, _, north = shapely.bounds(shape)
        parts = []
        for side, half in ((-1, shapely.box(-_FAR, south, 0, north)), (1, shapely.box(0, south, _FAR, north))):

            def from_its_side(x: Degrees, y: Degrees, side: int = side) -> tuple[Degrees, Degrees]:
                lon, lat = self.inverse(x, y)
                turn = np.remainder(lon - self.lon0 + 180, 360) - 180
                return self.lon0 + np.copysign(turn, side), lat

            part = only_polygons(shapely.segmentize(shapely.intersection(shape, half), 2000))
            parts.append(_mended(_moved(np.array([part], dtype=object), from_its_side))[0])
        return cut(shapely.union_all(parts))

    def to_metres(self, geometries: Polygons) -> Polygons:
        """Shapely geometries in degrees, vertex by vertex in metres."""
        return _transformed(geometries, self.forward)

    @cached_property
    def _centre(self) -> tuple[float, float, float]:
        """Sine and cosine of the authalic latitude, and the stretch that keeps angles true at the centre."""
        sine = float(authalic_sine(self.lat0))
        cosine = math.sqrt(max(0.0, 1 - sine * sine))
        phi = math.radians(self.lat0)
        parallel = _A * math.cos(phi) / math.sqrt(1 - _E2 * math.sin(phi) ** 2)
        return sine, cosine, parallel / (RADIUS * cosine) if abs(self.lat0) < 89.9 else 1.0


def authalic_sine(lat: npt.ArrayLike) -> Degrees:
    """Sine of the latitude on the sphere of equal area."""
    return _authalic(np.sin(np.multiply(lat, math.pi / 180, dtype=np.float64)))


def _authalic(sine: Degrees) -> Degrees:
    square = np.multiply(sine, sine)
    series = np.full_like(square, _AUTHALIC[-1])
    for coefficient in reversed(_AUTHALIC[:-1]):
        series *= square
        series += coefficient
    series *= sine
    return np.asarray(series)


def area_km2(geometries: Polygons) -> Degrees:
    """Area on the ellipsoid of shapely polygons in degrees, their edges taken as straight in degrees."""
    import shapely

    fine = shapely.segmentize(geometries, 0.01)
    flat = _transformed(fine, lambda lon, lat: (np.radians(lon) * RADIUS, authalic_sine(lat) * RADIUS))
    return np.asarray(shapely.area(flat) / 1e6, dtype=np.float64)


def only_polygons(shape: Geometry) -> Geometry:
    """Without the points and lines that are left where polygons merely touch."""
    import shapely

    if shapely.get_type_id(shape) in (3, 6):
        return shape
    parts = shapely.get_parts(shape)
    return shapely.union_all(parts[shapely.get_dimensions(parts) == 2])


def _transformed(geometries: Polygons, function: Any) -> Polygons:
    return _mended(_moved(geometries, function))


def _moved(geometries: Polygons, function: Any) -> Polygons:
    import shapely

    moved: Polygons = shapely.transform(
        np.asarray(geometries, dtype=object), lambda xy: np.column_stack(function(xy[:, 0], xy[:, 1]))
    )
    return moved


def _mended(moved: Polygons) -> Polygons:
    """A hair-thin part that rounding turned over is mended, and parts that share an edge become one."""
    import shapely

    for one in np.flatnonzero(~shapely.is_valid(moved)):
        moved[one] = only_polygons(shapely.make_valid(moved[one]))
    return moved
