"""Tables with shapes: files that say what they hold, and shapes that are those of the cells."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
import shapely
from conftest import TINY_BOX, tiny_lab

import trajlab as tl
from trajlab.cli import main
from trajlab.errors import LabError
from trajlab.geoparquet import TABLES, _lines

GEOPANDAS = importlib.util.find_spec("geopandas") is not None


@pytest.fixture(scope="module")
def lab() -> tl.Lab:
    lab = tiny_lab()
    release = lab.release("square:1000", "3h", box=TINY_BOX, outside="clamp")
    lab.risk(release, "points:2")
    lab.cube(release, "home:square:4000")
    return lab


@pytest.fixture(scope="module")
def folder(lab: tl.Lab, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("geo") / "out"
    lab.export(folder, geo=True)
    return folder


def read(file: Path) -> tuple[pl.DataFrame, dict, np.ndarray]:
    about = json.loads(pq.read_metadata(file).metadata[b"geo"])
    frame = pl.read_parquet(file)
    return frame, about, shapely.from_wkb(frame["geometry"].to_numpy())


@pytest.mark.parametrize("table", TABLES)
def test_the_metadata_say_what_the_file_holds(folder, table):
    _, about, shapes = read(folder / f"{table}.parquet")
    assert (about["version"], about["primary_column"]) == ("1.1.0", "geometry")
    column = about["columns"]["geometry"]
    assert column["encoding"] == "WKB"
    there = shapes[[shape is not None for shape in shapes]]
    assert len(there)
    assert column["geometry_types"] == sorted({shape.geom_type for shape in there})
    assert column["bbox"] == shapely.total_bounds(there).tolist()
    assert pq.read_schema(folder / f"{table}.parquet").field("geometry").type == "binary"
    assert shapely.is_valid(there).all()


@pytest.mark.parametrize("table", TABLES)
def test_the_other_columns_are_those_of_the_table_in_its_order(lab, folder, table):
    frame, _, _ = read(folder / f"{table}.parquet")
    plain = lab.table(table)
    assert frame.columns == [*plain.columns, "geometry"]
    assert frame.drop("geometry").equals(plain)


def test_a_count_has_the_outline_of_its_cell(lab, folder):
    frame, _, shapes = read(folder / "counts.occupancy.parquet")
    release, cells = lab.table("counts.release").row(0, named=True), lab.table("grid.cell")
    outline = dict(cells.filter(index_id=release["index_id"]).select("cell", "polygon").iter_rows())
    for cell, shape in zip(frame["cell"].to_list(), shapes, strict=True):
        assert shape.equals_exact(shapely.from_wkt(outline[cell]))


def test_a_flow_is_the_line_between_its_cells_and_a_stay_is_a_point(lab, folder):
    frame, about, shapes = read(folder / "counts.flow.parquet")
    assert about["columns"]["geometry"]["geometry_types"] == ["LineString", "Point"]
    cells = lab.sql("select cell, lng, lat from grid.cell where index_id = (select min(index_id) from counts.release)")
    point = {cell: (lng, lat) for cell, lng, lat in cells.iter_rows()}
    for (origin, destination), shape in zip(frame.select("origin", "destination").iter_rows(), shapes, strict=True):
        ends = [point[origin]] if origin == destination else [point[origin], point[destination]]
        assert list(shape.coords) == ends


def test_exposure_of_a_slot_has_no_shape(folder):
    frame, _, _ = read(folder / "metrics.exposure.parquet")
    assert frame.filter(exposed_by="slot")["geometry"].null_count() == len(frame.filter(exposed_by="slot")) > 0
    assert frame.filter(exposed_by="cell")["geometry"].null_count() == 0


def test_what_is_published_shows_no_cell_that_has_no_count(tmp_path):
    lab = tiny_lab()
    release = lab.release("square:1000", "3h", box=TINY_BOX, outside="clamp", min_count=2)
    lab._store.execute("delete from counts.occupancy where cell = (select max(origin) from counts.flow)")
    files = lab.export(tmp_path / "out", publishable=True, release=release, geo=True)
    frame, _, shapes = read(tmp_path / "out" / "counts.flow.parquet")
    hidden = (frame["origin"] == frame["origin"].max()) | (frame["destination"] == frame["origin"].max())
    assert hidden.any()
    assert [shape is None for shape in shapes] == hidden.to_list()
    package = json.loads((tmp_path / "out" / "datapackage.json").read_text())
    fields = {one["name"]: [field["name"] for field in one["schema"]["fields"]] for one in package["resources"]}
    for file in files:
        if file.suffix == ".parquet":
            assert fields[file.stem] == pl.read_parquet(file).columns


def test_a_cube_is_exported_with_shapes(lab, tmp_path):
    cube = lab.sql("select cube_id from study.cube").item()
    lab.export(tmp_path / "out", publishable=True, cube=cube, geo=True)
    for table in ("counts.cube", "counts.flow_cube", "grid.cell"):
        _, _, shapes = read(tmp_path / "out" / f"{table}.parquet")
        assert len(shapes), table


def test_a_flow_across_the_antimeridian_does_not_go_round_the_globe():
    far, near, nowhere = _lines(
        np.array([[179.0, 10.0], [1.0, 1.0], [np.nan, np.nan]]), np.array([[-179.0, 12.0], [2.0, 2.0], [1.0, 1.0]])
    )
    assert far.geom_type == "MultiLineString"
    assert far.length == pytest.approx(np.hypot(2, 2))
    assert near.wkt == "LINESTRING (1 1, 2 2)"
    assert nowhere is None


def test_a_lab_without_rows_writes_files_without_shapes(tmp_path):
    with tl.open(":memory:") as empty:
        empty.export(tmp_path / "out", geo=True)
    _, about, shapes = read(tmp_path / "out" / "grid.cell.parquet")
    assert len(shapes) == 0
    assert about["columns"]["geometry"] == {"encoding": "WKB", "geometry_types": []}


def test_shapes_are_not_written_as_csv(lab, tmp_path):
    with pytest.raises(LabError, match="shapes are written as GeoParquet: leave out geo, or the format csv"):
        lab.export(tmp_path / "out", form="csv", geo=True)


def test_the_command_writes_shapes(tiny_file, tmp_path, capsys):
    assert main(["export", str(tiny_file), str(tmp_path / "out"), "--geo"]) == 0
    assert b"geo" in pq.read_metadata(tmp_path / "out" / "grid.cell.parquet").metadata
    assert b"geo" not in (pq.read_metadata(tmp_path / "out" / "records.fix.parquet").metadata or {})
    capsys.readouterr()


def test_without_geopandas_one_error_says_what_is_missing(lab, monkeypatch):
    monkeypatch.setitem(sys.modules, "geopandas", None)
    with pytest.raises(LabError, match="lab.geo needs geopandas: pip install geopandas; export with geo=True does not"):
        lab.geo("grid.cell")


class Frame:
    """What geopandas would be given."""

    def __init__(self, data, geometry, crs):
        self.data, self.geometry, self.crs = data, geometry, crs


@pytest.mark.parametrize("table", [*TABLES, "report.people_by_cell"])
def test_a_relation_is_handed_to_geopandas_with_its_shapes(lab, monkeypatch, table):
    monkeypatch.setitem(sys.modules, "geopandas", type(sys)("geopandas"))
    monkeypatch.setattr(sys.modules["geopandas"], "GeoDataFrame", Frame, raising=False)
    made = lab.geo(table)
    assert made.crs == "OGC:CRS84"
    assert list(made.data.columns) == lab.table(table).columns
    assert len(made.geometry) == len(made.data) > 0
    assert any(shape is not None for shape in made.geometry)


def test_rows_may_be_chosen(lab, monkeypatch):
    monkeypatch.setitem(sys.modules, "geopandas", type(sys)("geopandas"))
    monkeypatch.setattr(sys.modules["geopandas"], "GeoDataFrame", Frame, raising=False)
    assert set(lab.geo("counts.occupancy", slot=3).data["slot"]) == {3}
    with pytest.raises(LabError, match=r"slots.slot has no shapes: grid.cell, .* such as report.people_by_cell"):
        lab.geo("slots.slot")


@pytest.mark.skipif(not GEOPANDAS, reason="geopandas is not installed; the tests above read the files without it")
@pytest.mark.parametrize("table", TABLES)
def test_geopandas_reads_the_files_and_is_given_the_same(lab, folder, table):
    import geopandas

    file = geopandas.read_parquet(folder / f"{table}.parquet")
    given = lab.geo(table)
    assert file.crs == given.crs == "OGC:CRS84"
    assert file.geometry.geom_equals(given.geometry).sum() == file.geometry.notna().sum() > 0


@pytest.mark.skipif(not GEOPANDAS, reason="geopandas is not installed; the tests above read the files without it")
@pytest.mark.skipif(importlib.util.find_spec("pyogrio") is None, reason="pyogrio is not installed")
@pytest.mark.parametrize("table", TABLES)
def test_pyogrio_passes_the_files_on_as_what_maps_read(folder, table, tmp_path):
    """GeoJSON in longitude and latitude is what kepler.gl takes, and GDAL is what writes it."""
    import geopandas
    import pyogrio

    file = geopandas.read_parquet(folder / f"{table}.parquet")
    shapes = file[file.geometry.notna()]
    pyogrio.write_dataframe(shapes, tmp_path / "map.geojson", driver="GeoJSON")
    again = pyogrio.read_dataframe(tmp_path / "map.geojson")
    assert len(again) == len(shapes) > 0
    assert again.crs == "OGC:CRS84" or again.crs.to_epsg() == 4326
    assert again.geometry.geom_equals_exact(shapes.geometry.reset_index(drop=True), tolerance=1e-6).all()
    west, south, east, north = again.total_bounds
    assert -180 <= west <= east <= 180
    assert -90 <= south <= north <= 90
