"""Zone polygons from GeoJSON and GeoParquet files.

The id of a zone is the first of `ID_PROPERTIES` that every feature has: a GeoJSON
feature's own id before its properties. Its parent is the property `parent`, if any.
Coordinates become longitude and latitude (WGS 84) whatever the file says they are.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from trajlab.errors import SpatialError
from trajlab.spatial import Polygons
from trajlab.spatial import _reference as reference

FEATURE_ID = "feature id"
ID_PROPERTIES = (FEATURE_ID, "zone", "zone_id", "taz", "taz_id", "id", "code", "name")
_PARQUET = (".parquet", ".geoparquet", ".pq")


def read_zones(path: str | Path) -> tuple[pl.DataFrame, list[str]]:
    """A table of zone, parent, polygon (WKB), and notes on what was chosen or converted."""
    import shapely

    path = Path(path)
    try:
        layer = _parquet(path) if path.suffix.lower() in _PARQUET else _geojson(path)
    except OSError as error:
        raise SpatialError(f"{path.name} cannot be read: {error.strerror or 'not a file of its kind'}") from error
    except SpatialError:
        raise
    except ValueError as error:  # a NUL in the name
        raise SpatialError(f"{path.name!r} cannot be the name of a file") from error
    _refuse_other_shapes(path.name, layer.shapes)
    chosen, passed_over = _id_column(path.name, layer)
    notes = [f"{path.name}: zones are named by {chosen!r}" + (f", not by {passed_over!r}" if passed_over else "")]
    shapes = _in_degrees(path.name, layer, notes)
    frame = pl.DataFrame(
        {
            "zone": [str(value) for value in layer.columns[chosen]],
            "parent": [None if value is None else str(value) for value in layer.columns["parent"]],
            "polygon": shapely.to_wkb(shapely.force_2d(shapes)).tolist(),
        },
        schema={"zone": pl.String, "parent": pl.String, "polygon": pl.Binary},
    )
    return frame, notes


@dataclass(frozen=True)
class _Layer:
    shapes: Polygons
    columns: dict[str, list[Any]]
    crs: Any
    """What pyproj reads, or None where the file leaves it open."""


def _geojson(path: Path) -> _Layer:
    from shapely.geometry import shape

    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except json.JSONDecodeError as error:
        raise SpatialError(f"{path.name} is not JSON: it breaks off or is misspelt at line {error.lineno}") from error
    except UnicodeDecodeError as error:
        raise SpatialError(f"{path.name} is not JSON: it is not UTF-8 text") from error
    except RecursionError as error:
        raise SpatialError(f"{path.name} is nested too deeply to be GeoJSON") from error
    kind = document.get("type") if isinstance(document, dict) else type(document).__name__
    if kind == "FeatureCollection" and not isinstance(document.get("features"), list):
        raise SpatialError(f"{path.name} is a FeatureCollection without a list of features; give one polygon per zone")
    if kind != "FeatureCollection":
        raise SpatialError(f"{path.name} holds a {kind}; zones are read from a GeoJSON FeatureCollection")
    features = [feature if isinstance(feature, dict) else {} for feature in document["features"]]
    if not features:
        raise SpatialError(f"{path.name} has no features; give one polygon per zone")
    shapes = np.empty(len(features), dtype=object)
    broken = []
    for number, feature in enumerate(features):
        try:
            shapes[number] = shape(feature["geometry"]) if feature.get("geometry") else None
        except Exception:  # shapely raises errors of many kinds on malformed coordinates
            broken.append(number + 1)
    if broken:
        raise SpatialError(
            f"{len(broken)} of {len(features)} features of {path.name} have coordinates that make no shape: "
            f"feature {reference.few(broken)}"
        )
    properties = [given if isinstance(given := feature.get("properties"), dict) else {} for feature in features]
    columns = {name: [each.get(name) for each in properties] for name in (*ID_PROPERTIES, "parent")}
    columns[FEATURE_ID] = [feature.get("id") for feature in features]
    return _Layer(shapes, columns, _old_style_crs(path.name, document.get("crs")))


def _old_style_crs(file: str, crs: object) -> object:
    """What a GeoJSON file of before 2016 names as its system; others are longitude and latitude."""
    if crs is None:
        return "OGC:CRS84"
    properties = crs.get("properties") if isinstance(crs, dict) else None
    if not isinstance(properties, dict) or not isinstance(properties.get("name"), str):
        raise SpatialError(
            f'{file} has a "crs" that names no coordinate system: write it as {{"type": "name", "properties": '
            '{"name": "EPSG:3857"}}, or leave it out where coordinates are longitude and latitude'
        )
    return properties["name"]


def _parquet(path: Path) -> _Layer:
    import pyarrow as pa
    import pyarrow.parquet as pq
    import shapely

    try:
        table = pq.read_table(path)
        geo = json.loads((table.schema.metadata or {}).get(b"geo", b"null"))
    except (pa.ArrowException, json.JSONDecodeError) as error:
        raise SpatialError(f"{path.name} is not a readable Parquet file") from error
    if not isinstance(geo, dict):
        raise SpatialError(f"{path.name} has no 'geo' metadata; write it as GeoParquet, with WKB geometry")
    column = geo.get("primary_column", "geometry")
    columns = geo.get("columns")
    about = columns.get(column) if isinstance(columns, dict) else None
    if not isinstance(about, dict):
        raise SpatialError(f"{path.name} has 'geo' metadata that says nothing of {column!r}; write it as GeoParquet")
    if column not in table.column_names or about.get("encoding") != "WKB":
        raise SpatialError(f"{path.name} keeps its geometry {column!r} as {about.get('encoding')}, not as WKB")
    if not table.num_rows:
        raise SpatialError(f"{path.name} has no rows; give one polygon per zone")
    shapes = shapely.from_wkb(np.array(table[column].to_pylist(), dtype=object), on_invalid="ignore")
    unknown = [None] * table.num_rows
    values = {
        name: table[name].to_pylist() if name in table.column_names else unknown for name in (*ID_PROPERTIES, "parent")
    }
    # no entry means longitude and latitude, null means that nobody knows
    return _Layer(np.asarray(shapes, dtype=object), values, about.get("crs", "OGC:CRS84"))


def _refuse_other_shapes(file: str, shapes: Polygons) -> None:
    kinds = Counter("nothing" if shape is None else shape.geom_type for shape in shapes)
    others = {kind: count for kind, count in kinds.items() if kind not in ("Polygon", "MultiPolygon")}
    if others:
        listed = ", ".join(f"{count} {kind}" for kind, count in sorted(others.items()))
        raise SpatialError(
            f"{sum(others.values())} of {len(shapes)} features of {file} are not polygons: {listed}; "
            "a zone must be a Polygon or MultiPolygon"
        )


def _id_column(file: str, layer: _Layer) -> tuple[str, str | None]:
    """The column to name zones by, and the one that would have been next."""
    full = [name for name in ID_PROPERTIES if all(value not in (None, "") for value in layer.columns[name])]
    if not full:
        most = max(ID_PROPERTIES, key=lambda name: sum(value is not None for value in layer.columns[name]))
        named = sum(value is not None for value in layer.columns[most])
        raise SpatialError(
            f"the zones of {file} have no id on every feature (the fullest, {most!r}, is on {named} of "
            f"{len(layer.shapes)}); name them by one of: {', '.join(ID_PROPERTIES)}"
        )
    return full[0], full[1] if len(full) > 1 else None


def _in_degrees(file: str, layer: _Layer, notes: list[str]) -> Polygons:
    """The shapes in WGS 84 longitude and latitude, with a note on any conversion."""
    import pyproj
    import shapely

    if layer.crs is None:
        notes.append(f"{file}: does not say its coordinate system; taken as longitude and latitude")
        return layer.shapes
    try:
        crs = pyproj.CRS.from_user_input(layer.crs)
    except pyproj.exceptions.CRSError as error:
        raise SpatialError(f"{file} names a coordinate system that pyproj does not know") from error
    wgs84 = pyproj.CRS("OGC:CRS84")
    if crs.equals(wgs84, ignore_axis_order=True):
        return layer.shapes
    move = pyproj.Transformer.from_crs(crs, wgs84, always_xy=True).transform
    notes.append(f"{file}: converted from {crs.name} to longitude and latitude")
    moved: Polygons = shapely.transform(
        shapely.force_2d(layer.shapes), lambda xy: np.column_stack(move(xy[:, 0], xy[:, 1]))
    )
    return moved
