"""The ground of all maps of a page, drawn once and used by each: sea, land, lakes, borders, and names of places.

Names stand where they do not cover each other, the larger place first. Those that find no room are in the page too,
unseen: whoever zooms in has room for them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import shapely

from trajlab.errors import LabError
from trajlab.report.drawing.extent import PIXEL, Extent, Floats, Shapes
from trajlab.report.drawing.outlines import write_paths
from trajlab.report.ground import NAMES, Ground, clip, load_places, load_world
from trajlab.report.markup import Html, tag

MOST_NAMES = 150
MOST_TEXT = 1_000_000
"""Characters of outlines behind the cells; a backdrop with more of them loses its smallest corners."""
FARTHEST = 25_000.0
"""Metres: a cell is near a place that is no farther."""
_FINEST = 0.15 * PIXEL
_LETTER = 0.56
"""Width of a letter / its height, about."""
_TEXT_SIZE = 20 * PIXEL
"""Of names in the drawing itself, which on paper is smaller than on a screen."""


@dataclass(frozen=True)
class Backdrop:
    extent: Extent
    ground: Ground
    own_places: pl.DataFrame
    """Places that the lab has a name for."""

    @classmethod
    def of(cls, extent: Extent, *, file: str | Path | None = None, own_places: pl.DataFrame | None = None) -> Backdrop:
        """What the package knows of the extent, or a GeoJSON file in its place."""
        from trajlab.report.ground.geojson import load_file

        given = pl.DataFrame(schema=NAMES) if own_places is None else own_places
        if file is None:
            return cls(extent, load_world(extent.box), given)
        read = load_file(file)
        turn = 360 * round((extent.plane.lon0 - _middle(read)) / 360)
        moved = {
            kind: clip(shapely.transform(shapes, lambda xy: xy + np.array([turn, 0])), extent.box)
            for kind, shapes in read.layers.items()
        }
        west, south, east, north = extent.box
        names = read.places.with_columns(pl.col("lng") + turn).filter(
            pl.col("lng").is_between(west, east), pl.col("lat").is_between(south, north)
        )
        if not len(names) and not any(map(len, moved.values())):
            raise LabError(
                f"nothing in {Path(file).name} lies where the cells are ({south:.2f} to {north:.2f} degrees north, "
                f"{west:.2f} to {east:.2f} east): is it another city, or latitude before longitude?"
            )
        return cls(extent, Ground(moved, names if len(names) else load_places(extent.box), read.source), given)

    @cached_property
    def drawing(self) -> Html:
        """What the maps of a page refer to; once on the page."""
        drawn = {kind: outline for kind, outline in self._outlines.items() if outline}
        under = [
            tag("path", d=outline, cls=kind, fill="none" if kind == "line" else None)
            for kind, outline in drawn.items()
            if kind != "border"
        ]
        over = [
            tag("path", d=drawn[kind], cls=name, fill="none")
            for kind, name in (("land", "shore"), ("border", "border"))
            if kind in drawn
        ]
        ground = tag("g", self._sea(), under, id="ground")
        names = tag("g", over, self._names(), id="names", font_size=_TEXT_SIZE)
        return tag("svg", tag("defs", ground, names), width=0, height=0, aria_hidden="true", cls="ground")

    def near(self, shapes: Shapes) -> list[str | None]:
        """The name of the place nearest to each shape (in degrees); None where there is none for miles."""
        from scipy.spatial import cKDTree

        names = pl.concat(
            [self.ground.places.select("name", "lng", "lat"), self.own_places.select("name", "lng", "lat")]
        )
        middles = shapely.get_coordinates(shapely.centroid(np.where(shapely.is_missing(shapes), _NOWHERE, shapes)))
        if not len(names) or len(middles) < len(shapes):
            return [None] * len(shapes)
        places = np.column_stack(self.extent.plane.forward(names["lng"].to_numpy(), names["lat"].to_numpy()))
        distance, which = cKDTree(places).query(np.column_stack(self.extent.plane.forward(*middles.T)))
        known = names["name"].to_list()
        return [known[n] if far <= FARTHEST else None for far, n in zip(distance.tolist(), which.tolist(), strict=True)]

    def _sea(self) -> Html | None:
        if "land" not in self.ground.layers:
            return None
        width, height = self.extent.size
        return tag("rect", width=width, height=height, cls="sea")

    @cached_property
    def _outlines(self) -> dict[str, str]:
        extent, finest = self.extent, _FINEST
        margin = (extent.east - extent.west) * 0.01
        edge = (extent.west - margin, extent.south - margin, extent.east + margin, extent.north + margin)
        flat = {
            kind: shapely.clip_by_rect(extent.plane.to_metres(shapes), *edge)
            for kind, shapes in self.ground.layers.items()
            if len(shapes)
        }
        while True:
            drawn = {
                kind: "".join(
                    write_paths(shapely.transform(shapes[~shapely.is_empty(shapes)], extent.paper), finest=finest)
                )
                for kind, shapes in flat.items()
            }
            if sum(map(len, drawn.values())) <= MOST_TEXT or finest > 50 * PIXEL:
                return drawn
            finest *= 2

    def _names(self) -> list[Html]:
        known = pl.concat([self.ground.places, self.own_places]).head(MOST_NAMES)
        if not len(known):
            return []
        at = self.extent.paper_of_degrees(known["lng"].to_numpy(), known["lat"].to_numpy())
        names = known["name"].to_list()
        seen = place(names, at, self.extent.size)
        return [
            tag("text", name, x=round(x), y=round(y), cls=None if shown else "more")
            for name, (x, y), shown in zip(names, at.tolist(), seen, strict=True)
            if 0 <= x <= self.extent.size[0] and 0 <= y <= self.extent.size[1]
        ]


def place(names: Sequence[str], at: Floats, size: tuple[int, int]) -> list[bool]:
    """Which names have room: inside the paper and not over one before them."""
    taken: list[tuple[float, float, float, float]] = []
    shown = []
    for name, (x, y) in zip(names, at.tolist(), strict=True):
        half = (len(name) * _LETTER / 2 + 1) * _TEXT_SIZE
        box = (x - half, y - 1.9 * _TEXT_SIZE, x + half, y + 1.2 * _TEXT_SIZE)
        free = box[0] >= 0 and box[1] >= 0 and box[2] <= size[0] and box[3] <= size[1]
        free = free and not any(
            box[0] < other[2] and box[2] > other[0] and box[1] < other[3] and box[3] > other[1] for other in taken
        )
        if free:
            taken.append(box)
        shown.append(free)
    return shown


def _middle(ground: Ground) -> float:
    """Longitude of the middle of what a file shows."""
    shapes = [shapes for shapes in ground.layers.values() if len(shapes)]
    ends = [shapely.total_bounds(np.concatenate(shapes))[[0, 2]]] if shapes else []
    ends.append(ground.places["lng"].to_numpy() if len(ground.places) else np.array([]))
    every: npt.NDArray[np.float64] = np.concatenate(ends)
    middle = float((every.min() + every.max()) / 2)
    return middle if math.isfinite(middle) else 0.0


_NOWHERE = shapely.Point(0, 0)
