"""A GeoJSON file of one's own behind the cells: outlines, lines, and points with a name."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from trajlab.errors import LabError
from trajlab.report.ground import NAMES, Ground

LARGEST = 64 * 2**20
"""Bytes of a file that is read."""
_PARTS = {
    "Polygon": ("area", 2),
    "MultiPolygon": ("area", 3),
    "LineString": ("line", 1),
    "MultiLineString": ("line", 2),
    "Point": ("name", 0),
    "MultiPoint": ("name", 1),
}
"""What each type becomes, and how deep its positions lie in lists."""
_NAMES = ("name", "NAME", "Name", "name:en", "title", "label")


def load_file(path: str | Path) -> Ground:
    """The shapes of a file; whatever is wrong with it is said with the place where it is."""
    import shapely

    path = Path(path)
    found: dict[str, list[Any]] = {"area": [], "line": []}
    names: list[tuple[str, float, float, int]] = []
    for where, geometry, name in _geometries(_read(path), path.name):
        kind, depth = _PARTS[geometry["type"]]
        coordinates: Any = geometry.get("coordinates")
        _check(coordinates, depth, f"{path.name}: {where}")
        if kind == "name":
            points = [coordinates] if depth == 0 else coordinates
            names += [(name, float(point[0]), float(point[1]), 0) for point in points if name]
        elif coordinates:
            try:
                shape = shapely.make_valid(shapely.from_geojson(json.dumps(geometry)))
            except shapely.errors.ShapelyError as error:
                raise LabError(f"{path.name}: {where} is no {geometry['type']}: {error}") from error
            found[kind].append(shape)
    if not names and not any(found.values()):
        raise LabError(f"{path.name} has no outline, line or named point to draw")
    layers = {kind: np.array(shapes, dtype=object) for kind, shapes in found.items() if shapes}
    return Ground(layers, pl.DataFrame(names, schema=NAMES, orient="row"), f"Backdrop: {path.name}.")


def _read(path: Path) -> Any:
    try:
        if path.stat().st_size > LARGEST:
            raise LabError(f"{path.name} has more than {LARGEST // 2**20} MB: cut it to the study area, or simplify it")
        return json.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise LabError(f"cannot read the backdrop {path.name!r}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise LabError(f"{path.name} is no text in UTF-8 (byte {error.start + 1:,}), so no GeoJSON") from error
    except json.JSONDecodeError as error:
        raise LabError(f"{path.name} is no JSON: line {error.lineno}, column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise LabError(f"{path.name} is no GeoJSON: its lists lie too deep in each other") from error


def _geometries(read: Any, file: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Each geometry, where it is in the file, and the name of what it belongs to."""
    kind = read.get("type") if isinstance(read, dict) else None
    if kind == "FeatureCollection" and isinstance(read.get("features"), list):
        for n, feature in enumerate(read["features"], 1):
            yield from _of_feature(feature, f"feature {n}", file)
    elif kind == "Feature":
        yield from _of_feature(read, "the feature", file)
    else:
        yield from _of_geometry(read, "the geometry", "", file)


def _of_feature(feature: Any, where: str, file: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    if not isinstance(feature, dict) or feature.get("type") != "Feature":
        raise LabError(f'{file}: {where} has no "type": "Feature"')
    properties = feature.get("properties")
    known = properties if isinstance(properties, dict) else {}
    name = next((known[key] for key in _NAMES if isinstance(known.get(key), str)), "")
    if feature.get("geometry") is not None:
        yield from _of_geometry(feature["geometry"], where, name.strip()[:60], file)


def _of_geometry(geometry: Any, where: str, name: str, file: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    kind = geometry.get("type") if isinstance(geometry, dict) else None
    if kind == "GeometryCollection" and isinstance(geometry.get("geometries"), list):
        for part in geometry["geometries"]:
            yield from _of_geometry(part, where, name, file)
    elif kind in _PARTS:
        yield where, geometry, name
    elif kind == "Topology":
        raise LabError(f"{file} is TopoJSON: convert it to GeoJSON, for example at mapshaper.org")
    else:
        types = "FeatureCollection, Feature or a geometry" if where == "the geometry" else "a geometry"
        raise LabError(f"{file}: {where} is not {types} of GeoJSON (its type is {str(kind)[:40]!r})")


def _check(coordinates: Any, depth: int, where: str) -> None:
    """Positions are pairs of degrees, at the depth that the type has."""
    if not isinstance(coordinates, list):
        raise LabError(f"{where} has no coordinates")
    if depth:
        for part in coordinates:
            _check(part, depth - 1, where)
        return
    pair = coordinates[:2]
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in pair)
    if len(pair) < 2 or not numbers or not all(map(math.isfinite, pair)):
        raise LabError(f"{where} has a position that is no pair of numbers: {str(coordinates)[:60]}")
    if abs(pair[0]) > 360 or abs(pair[1]) > 90:
        raise LabError(
            f"{where} has the position {pair[0]:g}, {pair[1]:g}: GeoJSON is in degrees, longitude first; "
            "export it in EPSG:4326 (WGS 84)"
        )
