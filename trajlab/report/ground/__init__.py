"""What lies behind the cells of a map: land, lakes, borders and names of places; or a GeoJSON file of one's own.

The files beside this one are an extract of Natural Earth and GeoNames that `docs/backdrop.py` wrote; LICENSE.md says
what they are and whose. Everything here is in degrees. A box whose east is beyond 180 lies across the antimeridian,
and what is found for it has longitudes to match.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

Box = tuple[float, float, float, float]
"""West, south, east, north."""
Shapes = npt.NDArray[np.object_]

STEP = 0.001
"""Degrees: unit of the numbers in the files."""
NAMES = pl.Schema({"name": pl.String(), "lng": pl.Float64(), "lat": pl.Float64(), "population": pl.Int64()})
WORLD = "Land and borders 1:10m, lakes 1:50m: Natural Earth. Names: GeoNames (CC BY 4.0)."
_FOLDER = Path(__file__).parent
_EDGE = 0.25
"""Degrees between corners of long straight edges, which bend on a map."""


@dataclass(frozen=True)
class Ground:
    layers: dict[str, Shapes] = field(default_factory=dict)
    """By kind, lowest first: land, lake, border of the package; area, line of a file of one's own."""
    places: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=NAMES))
    """Name, longitude, latitude and population of places, those that matter most first."""
    source: str = ""
    """Where it is from, for the reader."""


def load_world(box: Box) -> Ground:
    """What the package knows of a part of the globe."""
    rows = pl.read_parquet(_FOLDER / "world.parquet", columns=["kind", "west", "south", "east", "north"])
    west, south, east, north = box
    kept = rows.with_row_index().filter(pl.col("north") >= south, pl.col("south") <= north)
    turns = [turn for turn in (-360, 0, 360) if west - turn <= 180 and east - turn >= -180]
    across = [(pl.col("east") + turn >= west) & (pl.col("west") + turn <= east) for turn in turns]
    kept = kept.filter(pl.any_horizontal(across)) if turns else kept.clear()
    found = pl.read_parquet(_FOLDER / "world.parquet", columns=["kind", "shape", "lng", "lat"])[kept["index"]]
    layers = {
        kind: clip(np.concatenate([_shapes(found.filter(kind=kind), turn) for turn in turns]), box)
        for kind in ("land", "lake", "border")
        if turns
    }
    return Ground(layers, load_places(box), WORLD)


def load_places(box: Box) -> pl.DataFrame:
    """Cities, towns and quarters inside a box, the largest first."""
    west, south, east, north = box
    places = pl.read_parquet(_FOLDER / "places.parquet").with_columns(pl.col("lng", "lat") * STEP)
    turned = pl.concat([places.with_columns(pl.col("lng") + turn) for turn in (-360, 0, 360)])
    inside = turned.filter(pl.col("lng").is_between(west, east), pl.col("lat").is_between(south, north))
    return inside.sort("population", "name", "lng", "lat", descending=[True, False, False, False]).cast(NAMES)


def clip(shapes: Shapes, box: Box) -> Shapes:
    """The parts of shapes inside a box; parts of land that meet become one."""
    import shapely

    inside = shapely.clip_by_rect(shapes, *box)
    inside = inside[~shapely.is_empty(inside)]
    if len(inside) and (shapely.get_dimensions(inside) == 2).any():
        inside = shapely.get_parts(shapely.union_all(shapely.make_valid(inside)))
    return np.asarray(shapely.segmentize(inside, _EDGE), dtype=object)


def _shapes(rows: pl.DataFrame, turn: int) -> Shapes:
    """Lines or polygons from rings given as a first corner and steps."""
    import shapely

    if not len(rows):
        return np.array([], dtype=object)
    sizes = rows["lng"].list.len().to_numpy()
    ring = np.repeat(np.arange(len(rows)), sizes)
    corners = np.column_stack([_corners(rows["lng"], sizes) + turn, _corners(rows["lat"], sizes)])
    if rows["kind"][0] == "border":
        return np.asarray(shapely.linestrings(corners, indices=ring), dtype=object)
    _, shape = np.unique(rows["shape"].to_numpy(), return_inverse=True)
    return np.asarray(shapely.polygons(shapely.linearrings(corners, indices=ring), indices=shape), dtype=object)


def _corners(steps: pl.Series, sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Degrees of every corner of every ring."""
    flat = steps.explode().to_numpy().astype(np.int64)
    upto = np.cumsum(flat)
    before = np.concatenate([[0], upto])[np.cumsum(sizes) - sizes]
    return np.asarray((upto - np.repeat(before, sizes)) * STEP)
