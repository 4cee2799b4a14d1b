import numpy as np
import polars as pl
import pytest
import shapely
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

from trajlab.errors import SpatialError
from trajlab.spatial import StudyArea, build
from trajlab.spatial._projection import LocalMetres

BOX = (116.0, 39.6, 116.8, 40.2)
coordinates = st.tuples(st.floats(115.9, 116.9), st.floats(39.5, 40.3))
in_the_box = st.tuples(st.floats(116.0, 116.8), st.floats(39.6, 40.2))


def masts(points, ids=None):
    lng, lat = np.array(points, dtype=float).T
    return pl.DataFrame({"station": ids or [f"m{i:03}" for i in range(len(lng))], "lat": lat, "lng": lng})


def city(count, seed=0):
    rng = np.random.default_rng(seed)
    points = np.column_stack([rng.normal(116.4, 0.1, count), rng.normal(39.9, 0.08, count)])
    return StudyArea(BOX, stations=masts(points))


def positions(area):
    return area.stations["lng"].to_numpy(), area.stations["lat"].to_numpy()


def cells(index, area):
    return np.unique(index.assign(*positions(area)))


@examples(few=20, many=120)
@given(sites=st.lists(coordinates, min_size=1, max_size=30), points=st.lists(coordinates, min_size=1, max_size=30))
def test_a_point_belongs_to_the_mast_that_a_slow_search_finds(sites, points):
    area = StudyArea(BOX, stations=masts(sites))
    index = build("stations", area)
    plane = LocalMetres.centred(BOX)
    sx, sy = plane.forward(*np.array(sites).T)
    x, y = plane.forward(*np.array(points).T)
    distance = np.hypot(x[:, None] - sx, y[:, None] - sy)
    found = [int(label[1:]) for label in index.label(index.assign(*np.array(points).T))]
    assert (distance[np.arange(len(points)), found] <= distance.min(axis=1) + 0.2).all()  # one spot is 0.1 m


@examples(few=20, many=120)
@given(points=st.lists(in_the_box, min_size=1, max_size=30), side=st.sampled_from(["", ":200", ":3000"]))
def test_the_nearest_mast_and_the_polygon_agree(points, side):
    index = build(f"stations{side}", city(60))
    plane = LocalMetres.centred(BOX)
    lon, lat = np.array(points).T
    flat = plane.to_metres(index.polygon(index.assign(lon, lat)))
    assert (shapely.distance(flat, shapely.points(*plane.forward(lon, lat))) < 1e-3).all()


def test_equally_near_masts_give_way_to_the_smaller_id():
    ring = [(0.1, 0.0), (-0.1, 0.0), (0.0, 0.1), (0.0, -0.1)]
    x, y = LocalMetres(0.0, 0.0).inverse(*(np.array(ring).T * 1e5))
    for ids in (["d", "b", "c", "a"], ["a", "b", "c", "d"]):
        area = StudyArea((-1, -1, 1, 1), stations=masts(np.column_stack([x, y]), ids))
        index = build("stations", area)
        assert index.label(index.assign(np.array([0.0]), np.array([0.0]))) == ["a"]


def test_masts_at_one_spot_are_one_cell_under_the_smallest_id():
    index = build("stations", StudyArea(BOX, stations=masts([(116.4, 39.9)] * 3 + [(116.5, 39.9)], [*"cbad"])))
    assert index.label(np.array([0, 1], dtype=np.uint64)) == ["a", "d"]
    with pytest.raises(SpatialError, match="1 of 1 cells are not cells of stations:"):
        index.label(np.array([2], dtype=np.uint64))


def test_masts_of_one_square_merge_and_their_areas_add_up():
    area = city(300)
    fine = build("stations", area)
    total = fine.area_km2(cells(fine, area)).sum()
    sizes = []
    for side in (200, 400, 800, 1600, 3200):
        index = build(f"stations:{side}", area)
        areas = index.area_km2(cells(index, area))
        sizes.append(len(areas))
        assert areas.sum() == pytest.approx(total, rel=1e-9)
        sums = np.bincount(index.parent(cells(index, area)).astype(np.int64), areas)
        assert index.coarser().area_km2(np.arange(len(sums), dtype=np.uint64)) == pytest.approx(sums, rel=1e-9)
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < 150


def test_merged_masts_share_a_square_of_the_side():
    area = city(300)
    x, y = LocalMetres.centred(BOX).forward(*positions(area))
    square = np.column_stack([np.floor((axis - np.floor(axis.min()) + 1) / 1000) for axis in (x, y)])
    _, expected = np.unique(square, axis=0, return_inverse=True)
    cell = build("stations:1000", area).assign(*positions(area))
    same_square, same_cell = expected[:, None] == expected, cell[:, None] == cell
    assert np.array_equal(same_square, same_cell)


def test_polygons_are_clipped_to_the_zones_or_to_the_box_with_every_mast():
    stations = masts([(116.2, 39.8), (116.6, 40.0), (117.0, 39.9)])
    square = shapely.box(116.1, 39.7, 116.7, 40.1)
    zones = pl.DataFrame({"zone": ["z"], "polygon": [shapely.to_wkb(square)]})
    boxed = build("stations", StudyArea(BOX, stations=stations))
    zoned = build("stations", StudyArea(BOX, stations=stations, zones=zones))
    every = np.arange(3, dtype=np.uint64)
    grown = [115.9, 39.54, 117.1, 40.26]
    assert shapely.total_bounds(boxed.polygon(every)) == pytest.approx(grown, abs=1e-3)
    assert shapely.total_bounds(zoned.polygon(every)) == pytest.approx(square.bounds, abs=1e-6)
    assert zoned.area_km2(every)[2] < 0.01 * boxed.area_km2(every)[2]  # the third mast is outside the zones
    assert boxed.settings["clipped_to"] == "box"
    assert zoned.settings["clipped_to"] != "box"


def test_many_points_are_assigned_as_few_are():
    index = build("stations", city(400))
    rng = np.random.default_rng(1)
    lon, lat = rng.normal(116.4, 0.2, 1_000_000), rng.normal(39.9, 0.2, 1_000_000)
    some = slice(0, 200_000)
    assert np.array_equal(index.assign(lon, lat)[some], index.assign(lon[some], lat[some]))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"station": ["a", "b", "a"], "lat": [1, 2, 3], "lng": [1, 2, 3]}, "2 of 3 stations share an id .*: a; mend"),
        ({"station": ["a", "b"], "lat": [1, None], "lng": [1, 2]}, "1 of 2 stations have no usable lat and lng: b;"),
        ({"station": ["a", "b"], "lat": [1, 95], "lng": [200, 2]}, "2 of 2 stations have no usable .*: a, b;"),
        ({"station": ["a"], "lat": [float("nan")], "lng": [1.0]}, "1 of 1 stations have no usable lat and lng: a;"),
        ({"station": ["a", None], "lat": [1, 1], "lng": [1, 2]}, "1 of 2 stations have no id; fill the column"),
        ({"station": [], "lat": [], "lng": []}, "the table of stations has no rows"),
        ({"station": ["a"], "lat": [1]}, "the table of stations has no column lng; it has: station, lat"),
        ({"station": ["a"], "lat": ["x"], "lng": [1]}, "the table of stations needs lat Float64, lng Float64;"),
        ({"station": [*"abcd"], "lat": [95] * 4, "lng": [1] * 4}, "4 of 4 .*: a, b, c, ...; mend or drop these rows"),
    ],
)
def test_a_wrong_table_is_refused_with_the_number_and_some_ids(table, message):
    with pytest.raises(SpatialError, match=message):
        StudyArea(BOX, stations=pl.DataFrame(table))


def test_a_senseless_merging_side_is_refused():
    with pytest.raises(SpatialError, match="stations:-3 has no usable side: give metres from 1 to"):
        build("stations:-3", city(5))
