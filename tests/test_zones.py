import json
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyproj
import pytest
import shapely
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

from trajlab.errors import SpatialError
from trajlab.spatial import StudyArea, build
from trajlab.spatial.zones import read_zones

BROKEN = Path(__file__).parents[1] / "fixtures" / "broken" / "zones"
BOX = (0.0, 0.0, 3.0, 2.0)


def zones(shapes, ids=None, parents=None):
    ids = ids or [f"z{i}" for i in range(len(shapes))]
    frame = pl.DataFrame({"zone": ids, "polygon": [shapely.to_wkb(shape) for shape in shapes]})
    return frame if parents is None else frame.with_columns(parent=pl.Series(parents, dtype=pl.String))


def index(table, spec="zones"):
    return build(spec, StudyArea(BOX, zones=table))


def labels(zone_index, *points):
    return zone_index.label(zone_index.assign(*np.array(points, dtype=float).T))


THREE = [shapely.box(i, 0, i + 1, 2) for i in range(3)]


def test_borders_and_overlaps_go_to_the_smaller_id_and_strays_to_the_nearest_zone():
    plain = index(zones(THREE, ["c", "a", "b"]))
    assert labels(plain, (0.5, 1), (1, 1), (2, 1), (2.5, 1)) == ["c", "a", "a", "b"]
    assert labels(plain, (-5, 1), (2.9, 60), (1.5, -1)) == ["c", "b", "a"]
    overlapping = index(zones([shapely.box(0, 0, 2, 2), shapely.box(1, 0, 3, 2)], ["b", "a"]))
    assert labels(overlapping, (0.5, 1), (1.5, 1), (2.5, 1)) == ["b", "a", "a"]
    assert shapely.equals(overlapping.polygon(np.array([1], dtype=np.uint64))[0], shapely.box(0, 0, 1, 2))


@examples(few=33, many=200)
@given(
    boxes=st.lists(st.tuples(*[st.integers(0, 19)] * 4), min_size=1, max_size=8, unique=True),
    points=st.lists(st.tuples(st.floats(0, 2), st.floats(0, 2)), min_size=1, max_size=20),
)
def test_a_point_belongs_to_the_first_zone_that_a_slow_search_finds(boxes, points):
    shapes = [shapely.box(x / 10, y / 10, (x + 1 + w) / 10, (y + 1 + h) / 10) for x, y, w, h in boxes]
    left = [shapely.difference(shape, shapely.union_all(shapes[:i])).area for i, shape in enumerate(shapes)]
    if min(left) < 1e-9:
        with pytest.raises(SpatialError, match="lie wholly inside zones with smaller ids"):
            index(zones(shapes))
        return
    found = index(zones(shapes))
    cells = found.assign(*np.array(points).T)
    for point, cell in zip(points, cells, strict=True):
        holding = [i for i, shape in enumerate(shapes) if shape.intersects(shapely.Point(point))]
        if holding:
            assert cell == holding[0]
        else:
            nearest = min(shape.distance(shapely.Point(point)) for shape in shapes)
            assert shapes[int(cell)].distance(shapely.Point(point)) == pytest.approx(nearest, rel=0.01)
    every = np.arange(len(shapes), dtype=np.uint64)
    assert np.array_equal(found.assign(*found.anchor(every)), every)
    assert shapely.area(found.polygon(every)).sum() == pytest.approx(shapely.union_all(shapes).area)


def test_parents_are_the_unions_of_their_zones():
    fine = index(zones(THREE, parents=["west", "west", None]))
    coarse = fine.coarser()
    cells = np.arange(3, dtype=np.uint64)
    assert coarse.label(fine.parent(cells)) == ["west", "west", "z2"]
    assert coarse.area_km2(fine.parent(cells[:1]))[0] == pytest.approx(fine.area_km2(cells[:2]).sum(), rel=1e-9)
    root = coarse.coarser()
    assert labels(root, (0.5, 1), (2.5, 1)) == ["everything", "everything"]
    assert root.coarser() is root


def test_without_parents_one_cell_holds_everything():
    assert labels(index(zones(THREE)).coarser(), (0.5, 1), (2.5, 1)) == ["everything"] * 2


def test_many_points_are_assigned_as_few_are():
    rng = np.random.default_rng(0)
    grid = [shapely.box(x, y, x + 0.3, y + 0.2) for x in np.arange(0, 3, 0.3) for y in np.arange(0, 2, 0.2)]
    crooked = index(zones([shape.buffer(rng.uniform(-0.05, 0.05)) for shape in grid]))
    lon, lat = rng.uniform(-0.1, 3.1, 1_000_000), rng.uniform(-0.1, 2.1, 1_000_000)
    some = slice(0, 100_000)
    assert np.array_equal(crooked.assign(lon, lat)[some], crooked.assign(lon[some], lat[some]))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (zones(THREE, ["a", "a", "b"]), "2 of 3 zones share an id with another row: a;"),
        (zones(THREE)[:0], "the table of zones has no rows"),
        (zones(THREE, ["a", "", "b"]), "1 of 3 zones have no id"),
        (zones([*THREE, shapely.Point(0, 0)]), "1 of 4 zones are not polygons: z3; mend or drop them"),
        (zones([*THREE, shapely.Polygon()]), "1 of 4 zones are empty: z3;"),
        (zones([shapely.Polygon([(0, 0), (1, 1), (1, 0), (0, 1)])]), "1 of 1 zones are not valid polygons .*: z0;"),
        (zones([shapely.box(0, 0, 5e5, 4e6)]), "1 of 1 zones are not in degrees of longitude and latitude: z0;"),
        (zones([THREE[0], THREE[0]]), "1 of 2 zones lie wholly inside zones with smaller ids.*: z1;"),
        (zones(THREE).with_columns(polygon=pl.Series([b"x"] * 3)), "3 of 3 zones are not polygons: z0, z1, z2;"),
    ],
)
def test_a_wrong_table_is_refused_with_the_number_and_some_ids(table, message):
    with pytest.raises(SpatialError, match=message):
        index(table)


def geojson(tmp_path, features, **members):
    path = tmp_path / "zones.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features, **members}))
    return path


def feature(shape, properties=None, **members):
    return {"type": "Feature", "geometry": shapely.geometry.mapping(shape), "properties": properties, **members}


def test_geojson_zones_are_named_by_feature_id_before_any_property(tmp_path):
    both = [feature(shape, {"name": f"n{i}", "taz": 7 + i, "parent": "p"}, id=i) for i, shape in enumerate(THREE)]
    frame, notes = read_zones(geojson(tmp_path, both))
    assert frame["zone"].to_list() == ["0", "1", "2"]
    assert frame["parent"].to_list() == ["p"] * 3
    assert notes == ["zones.geojson: zones are named by 'feature id', not by 'taz'"]
    assert labels(index(frame), (0.5, 1), (2.5, 1)) == ["0", "2"]
    only = [{**each, "id": None} for each in both]
    assert read_zones(geojson(tmp_path, only))[0]["zone"].to_list() == ["7", "8", "9"]


def test_geojson_in_another_coordinate_system_is_converted_and_noted(tmp_path):
    to_mercator = pyproj.Transformer.from_crs("OGC:CRS84", "EPSG:3857", always_xy=True).transform
    moved = shapely.transform(THREE[1], lambda xy: np.column_stack(to_mercator(*xy.T)))
    crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::3857"}}
    frame, notes = read_zones(geojson(tmp_path, [feature(moved, {"zone": "z"})], crs=crs))
    assert shapely.equals_exact(shapely.from_wkb(frame["polygon"][0]), THREE[1], 1e-9)
    assert notes[1] == "zones.geojson: converted from WGS 84 / Pseudo-Mercator to longitude and latitude"


def parquet(tmp_path, columns, about):
    path = tmp_path / "zones.parquet"
    geo = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": about}}
    pq.write_table(pa.table(columns).replace_schema_metadata({"geo": json.dumps(geo)}), path)
    return path


def test_geoparquet_is_read_with_its_coordinate_system(tmp_path):
    wkb = shapely.to_wkb(np.array(THREE)).tolist()
    columns = {"taz": [5, 6, 7], "geometry": wkb}
    frame, notes = read_zones(parquet(tmp_path, columns, {"encoding": "WKB"}))
    assert (frame["zone"].to_list(), frame["polygon"].to_list()) == (["5", "6", "7"], wkb)
    assert notes == ["zones.parquet: zones are named by 'taz'"]
    utm = pyproj.CRS("EPSG:32631")
    to_utm = pyproj.Transformer.from_crs("OGC:CRS84", utm, always_xy=True).transform
    columns["geometry"] = [
        shapely.to_wkb(shapely.transform(shape, lambda xy: np.column_stack(to_utm(*xy.T)))) for shape in THREE
    ]
    frame, notes = read_zones(parquet(tmp_path, columns, {"encoding": "WKB", "crs": utm.to_json_dict()}))
    assert shapely.equals_exact(shapely.from_wkb(frame["polygon"].to_numpy()), THREE, 1e-7).all()
    assert notes[1] == "zones.parquet: converted from WGS 84 / UTM zone 31N to longitude and latitude"
    _, notes = read_zones(parquet(tmp_path, {**columns, "geometry": wkb}, {"encoding": "WKB", "crs": None}))
    assert notes[1] == "zones.parquet: does not say its coordinate system; taken as longitude and latitude"


def test_a_parquet_file_without_wkb_geometry_is_refused(tmp_path):
    with pytest.raises(SpatialError, match=r"zones.parquet keeps its geometry 'geometry' as point, not as WKB"):
        read_zones(parquet(tmp_path, {"geometry": [1]}, {"encoding": "point"}))
    plain = tmp_path / "plain.parquet"
    pq.write_table(pa.table({"zone": ["a"]}), plain)
    with pytest.raises(SpatialError, match=r"plain.parquet has no 'geo' metadata; write it as GeoParquet"):
        read_zones(plain)
    silent = pa.table({"geometry": [b""]}).replace_schema_metadata({"geo": '{"columns": []}'})
    pq.write_table(silent, plain)
    with pytest.raises(
        SpatialError, match=r"plain.parquet has 'geo' metadata that says nothing of 'geometry'; write it"
    ):
        read_zones(plain)
    plain.write_text("no parquet at all")
    with pytest.raises(SpatialError, match=r"plain.parquet is not a readable Parquet file"):
        read_zones(plain)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("cut_off.geojson", "cut_off.geojson is not JSON: it breaks off or is misspelt at line 4"),
        ("not_utf8.geojson", "not_utf8.geojson is not JSON: it is not UTF-8 text"),
        ("one_feature.geojson", "one_feature.geojson holds a Feature; zones are read from a GeoJSON FeatureColl"),
        ("a_list.geojson", "a_list.geojson holds a list; zones are read from"),
        ("no_features.geojson", "no_features.geojson has no features; give one polygon per zone"),
        ("lines_and_points.geojson", "3 of 4 features of .* are not polygons: 2 LineString, 1 Point; a zone must"),
        ("no_geometry.geojson", "1 of 1 features of no_geometry.geojson are not polygons: 1 nothing;"),
        ("bad_coordinates.geojson", "1 of 2 features of .* have coordinates that make no shape: feature 2"),
        ("half_named.geojson", "no id on every feature .the fullest, 'zone', is on 1 of 2.; name them by one of"),
        ("unknown_crs.geojson", "unknown_crs.geojson names a coordinate system that pyproj does not know"),
        ("absent.geojson", "absent.geojson cannot be read: No such file or directory"),
    ],
)
def test_a_broken_file_is_refused_by_name(file, message):
    with pytest.raises(SpatialError, match=message):
        read_zones(BROKEN / file)
