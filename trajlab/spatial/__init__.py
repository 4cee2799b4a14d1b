"""Where a record is: indexes that cut the map into cells.

An index kind is a module of this package that defines `INDEX`, a class called
with the text after the colon of a spec and the `StudyArea`: `build("square:500", area)`
calls `square.INDEX("500", area)`. Nothing has to be registered. `EXAMPLES` in the
same module lists arguments to try the kind with; the laws below are checked on them.
A kind that knows only a part of the globe says which, `COVERS = (west, south, east, north)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np
import numpy.typing as npt
import polars as pl

from trajlab import plugins
from trajlab.spatial import _reference as reference
from trajlab.spatial._globe import checked_box

Degrees = npt.NDArray[np.float64]
Cells = npt.NDArray[np.uint64]
Polygons = npt.NDArray[np.object_]


class SpatialIndex(Protocol):
    """A partition of the map into cells, each with a 64-bit id.

    Laws that hold for every implementation (tests/laws/test_spatial.py):

    - *total*: every coordinate gets exactly one cell, whatever else is asked with
      it and in which order; coordinates that are missing or off the globe are refused;
    - *anchored*: `assign(*anchor(c)) == c` for every cell that `assign` returns;
    - *nested*: `parent` depends on the cell alone, so merging counts by parent keeps
      the total, and what it returns are cells of `coarser()`. The coarsest index of
      a kind is its own `coarser()`, and its cells are their own parents;
    - *drawn*: the polygon of a cell holds its anchor and the points of the study area
      assigned to it, up to the bow of edges that are straight on the ground but not
      in degrees; `area_km2` is the area on the ground;
    - *named*: `build(index.name, area)` is the same index, and the row order of the
      area's tables changes nothing.

    `parent(assign(p))` is not promised to equal `coarser().assign(p)`: H3 hexagons do
    not tile their parents exactly. Every other kind here does keep it.

    Cells that the index does not have are refused with their number.
    """

    @property
    def name(self) -> str:
        """The canonical spec, e.g. `square:500`; stored with every release."""
        ...

    @property
    def settings(self) -> dict[str, object]:
        """All that fixes the index besides the reference tables; fit for JSON."""
        ...

    def assign(self, lon: Degrees, lat: Degrees) -> Cells: ...

    def anchor(self, cells: Cells) -> tuple[Degrees, Degrees]:
        """A point (lon, lat) inside each cell: the centre, the mast, a point of the zone."""
        ...

    def parent(self, cells: Cells) -> Cells: ...

    def coarser(self) -> SpatialIndex: ...

    def polygon(self, cells: Cells) -> Polygons:
        """Shapely geometries in degrees, lon before lat."""
        ...

    def area_km2(self, cells: Cells) -> Degrees: ...

    def label(self, cells: Cells) -> list[str]:
        """What a person calls each cell: a station, zone or place id, `column,row`, an H3 string, a grid code."""
        ...


@dataclass(frozen=True, eq=False)
class StudyArea:
    """What an index may know of the study; the tables are kept sorted by id and checked.

    `box` is west, south, east, north in degrees (WGS 84), east beyond 180 where it lies across
    the antimeridian. `stations` has station, lat
    and lng; `places` has place and, where known, lat, lng and parent; `zones` has zone,
    polygon (WKB, lon before lat) and, where known, parent. Other columns are dropped.
    """

    box: tuple[float, float, float, float]
    stations: pl.DataFrame | None = None
    places: pl.DataFrame | None = None
    zones: pl.DataFrame | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "box", checked_box(self.box))
        for table, check in (
            ("stations", reference.stations),
            ("places", reference.places),
            ("zones", reference.zones),
        ):
            given = getattr(self, table)
            if given is not None:
                object.__setattr__(self, table, check(given))


def names() -> tuple[str, ...]:
    """The index kinds there are."""
    return tuple(plugins.names(__name__))


def build(spec: str, area: StudyArea) -> SpatialIndex:
    """The index that `kind` or `kind:argument` names, on this study area."""
    kind, _, argument = spec.strip().partition(":")
    return cast("SpatialIndex", plugins.load(__name__, kind, "spatial index").INDEX(argument, area))
