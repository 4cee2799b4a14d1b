"""Longitudes go round: boxes across the antimeridian, points beside them, polygons cut there.

A study box across the antimeridian has an eastern side beyond 180, for instance 178 to
182. Whatever is measured in its degrees is first turned to the side of the globe that
the box lies on (`beside`); what leaves the package lies between -180 and 180 (`wrapped`).
Polygons come in parts that meet at the antimeridian, and reach up to a pole inside them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from trajlab.errors import SpatialError

if TYPE_CHECKING:
    from shapely import Geometry

    from trajlab.spatial import Degrees

Box = tuple[float, float, float, float]


def checked_box(box: Box) -> Box:
    """West, south, east, north; a box across the antimeridian gets its eastern side beyond 180."""
    west, south, east, north = (float(side) for side in box)
    if east < west and east + 360 - west <= 180:
        east += 360
    if not (-180 <= west <= 180 and west <= east <= max(180, west + 180) and -90 <= south <= north <= 90):
        raise SpatialError(
            f"no study box from longitude {west:g} to {east:g} and latitude {south:g} to {north:g}: "
            "give west, south, east, north in degrees, south not above north, west not above east unless the box "
            "lies across the antimeridian and is at most 180 degrees wide, such as 178 to -178"
        )
    return west, south, east, north


def beside(lon: Degrees, box: Box) -> Degrees:
    """The longitudes, turned by 360 degrees where that brings them nearer to the middle of the box."""
    middle = (box[0] + box[2]) / 2
    far = np.abs(lon - middle) > 180
    return np.where(far, lon + math.copysign(360, middle), lon) if far.any() else lon


def wrapped(lon: Degrees) -> Degrees:
    """The same meridians between -180 and 180."""
    return np.where(np.abs(lon) > 180, np.remainder(lon + 180, 360) - 180, lon)


def cut(shape: Geometry) -> Geometry:
    """A shape in degrees that may go beyond 180 or -180, in parts that do not."""
    import shapely

    west, _, east, _ = shapely.bounds(shape)
    if west >= -180 and east <= 180:
        return shape
    parts = [
        shapely.transform(
            shapely.intersection(shape, shapely.box(turn - 180, -90, turn + 180, 90)),
            lambda xy, turn=turn: xy - [turn, 0],
        )
        for turn in (-360, 0, 360)
    ]
    return shapely.union_all(parts)
