"""Tables with their shapes: GeoParquet 1.1 files and GeoDataFrames for GIS, kepler.gl and the like.

A row about a cell gets the cell's outline, a flow the line from the point of one cell to that of the other, and
people who stay in a cell its point. Longitude comes before latitude, in degrees of WGS 84 (OGC:CRS84). A row about
no cell, or about one that has no place in the export, has no shape.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from trajlab.errors import LabError
from trajlab.spatial._globe import cut

if TYPE_CHECKING:
    from pathlib import Path

    from trajlab.query import Query
    from trajlab.spatial import Degrees, Polygons
    from trajlab.store import Store

VERSION = "1.1.0"
COLUMN = "geometry"
MEANING = "outline of the cell, or the line of a flow, as well-known binary in degrees (OGC:CRS84)"
_OF_RELEASE = "(select index_id from counts.release where release_id = shaped.release_id)"
_OF_RISK = "(select index_id from counts.release join study.risk using (release_id) where risk_id = shaped.risk_id)"
_INDEX = {
    "grid.cell": "shaped.index_id",
    "counts.occupancy": _OF_RELEASE,
    "counts.flow": _OF_RELEASE,
    "counts.cube": _OF_RELEASE,
    "counts.flow_cube": _OF_RELEASE,
    "metrics.exposure": _OF_RISK,
}
TABLES = tuple(_INDEX)
"""Tables that get a geometry."""


def write_file(store: Store, query: Query, file: Path, rows: str, cells: str, **params: object) -> None:
    """Write rows of a table with their shapes; `rows` and `cells` are the SQL of its rows and of the cells to show."""
    shapes = _shapes(store, query, rows, cells, params)
    with store.engine.frames(shape_of_key=shapes):
        store.execute(
            f"copy ({_with_shapes(query, rows)}) to $file (format parquet, kv_metadata {{geo: $geo}})",
            file=str(file),
            geo=_metadata(shapes[COLUMN]),
            **params,
        )


def load_frame(store: Store, query: Query, **params: object) -> Any:
    """A relation as a GeoDataFrame, where geopandas is installed."""
    try:
        import geopandas
    except ImportError as error:
        raise LabError("lab.geo needs geopandas: pip install geopandas; export with geo=True does not") from error
    import shapely

    found = store.relation(query, **params)
    if query.table in TABLES:
        with store.engine.frames(row_of_table=found):
            shapes = _shapes(store, query, "row_of_table", "grid.cell", {})
            with store.engine.frames(shape_of_key=shapes):
                found = store.frame(_with_shapes(query, "row_of_table"))
        shaped = shapely.from_wkb(found[COLUMN].to_numpy())
        found = found.drop(COLUMN)
    elif "polygon" in found.columns:
        shaped = shapely.from_wkt(found["polygon"].to_numpy())
    else:
        raise LabError(
            f"{query.table} has no shapes: {', '.join(TABLES)} have, and relations with a column polygon, "
            "such as report.people_by_cell"
        )
    return geopandas.GeoDataFrame(found.to_pandas(), geometry=shaped, crs="OGC:CRS84")


def _keys(query: Query) -> tuple[str, ...]:
    """The columns that say which cells a row is about."""
    names = {column.name for column in query.columns}
    return ("origin", "destination") if "origin" in names else ("cell",)


def _with_shapes(query: Query, rows: str) -> str:
    same = " and ".join(f"shape.{key} = shaped.{key}" for key in _keys(query))
    order = ", ".join(f"shaped.{name}" for name in query.grain)
    return (
        f"select shaped.*, shape.{COLUMN} from {rows} as shaped left join shape_of_key as shape "  # noqa: S608
        f"on shape.index_of = {_INDEX[query.table]} and {same} order by {order}"
    )


def _shapes(store: Store, query: Query, rows: str, cells: str, params: dict[str, object]) -> pl.DataFrame:
    """The shape of each cell, or of each pair of cells, that the rows are about: index_of, the keys, geometry."""
    import shapely

    keys = _keys(query)
    about = store.frame(
        f"select distinct {_INDEX[query.table]} as index_of, {', '.join(keys)} from {rows} as shaped "  # noqa: S608
        f"where {keys[0]} is not null order by all",
        **params,
    )
    places = store.frame(
        f"select index_id as index_of, cell, lng, lat, polygon from {cells} as shown",  # noqa: S608
        **{name: value for name, value in params.items() if f"${name}" in cells},
    )
    if keys == ("cell",):
        found = about.join(places, on=["index_of", "cell"], how="left", maintain_order="left")
        shapes = shapely.from_wkt(found["polygon"].to_numpy())
    else:
        found = about
        for key in keys:
            point = places.select("index_of", pl.col("cell").alias(key), **{f"{key}_lng": "lng", f"{key}_lat": "lat"})
            found = found.join(point, on=["index_of", key], how="left", maintain_order="left")
        start, end = (found.select(f"{key}_lng", f"{key}_lat").cast(pl.Float64).to_numpy() for key in keys)
        shapes = _lines(start, end)
    wkb = pl.Series(COLUMN, shapely.to_wkb(shapes).tolist(), dtype=pl.Binary)
    return about.with_columns(wkb)


def _lines(start: Degrees, end: Degrees) -> Polygons:
    """A line from each point to the other, cut at the antimeridian; the point itself where both are one."""
    import shapely

    lines = np.full(len(start), None, dtype=object)
    known = np.isfinite(start).all(axis=1) & np.isfinite(end).all(axis=1)
    stays = known & (start == end).all(axis=1)
    lines[stays] = shapely.points(start[stays])
    moves = np.flatnonzero(known & ~stays)
    turned = end[moves].copy()
    across = turned[:, 0] - start[moves, 0]
    turned[:, 0] -= np.where(np.abs(across) > 180, np.copysign(360, across), 0)
    lines[moves] = shapely.linestrings(np.stack([start[moves], turned], axis=1))
    for one in moves[np.abs(across) > 180]:
        lines[one] = cut(lines[one])
    return lines


def _metadata(wkb: pl.Series) -> str:
    """The value of the key `geo` in a GeoParquet file."""
    import shapely

    shapes = shapely.from_wkb(wkb.drop_nulls().to_numpy())
    about: dict[str, Any] = {"encoding": "WKB", "geometry_types": sorted({shape.geom_type for shape in shapes})}
    if len(shapes):
        about["bbox"] = [float(side) for side in shapely.total_bounds(shapes)]
    return json.dumps({"version": VERSION, "primary_column": COLUMN, "columns": {COLUMN: about}})
