"""The laws of `SpatialIndex`, on every kind there is and every argument in its `EXAMPLES`."""

import importlib
import json
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
import shapely
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

from trajlab import spatial
from trajlab.errors import SpatialError, UnknownNameError
from trajlab.spatial._globe import cut, wrapped
from trajlab.spatial._projection import LocalMetres, area_km2


def area(box, seed, order=1):
    """A city with 40 masts, 25 places (5 without coordinates) and 5 x 5 crooked zones that tile the box."""
    rng = np.random.default_rng(seed)
    west, south, east, north = box
    lng, lat = wrapped(rng.uniform(west, east, 65)), rng.uniform(south, north, 65)
    stations = pl.DataFrame({"station": [f"m{i}" for i in range(40)], "lat": lat[:40], "lng": lng[:40]})
    places = pl.DataFrame(
        {
            "place": [f"p{i}" for i in range(25)],
            "lat": [*lat[40:60], *[None] * 5],
            "lng": [*lng[40:60], *[None] * 5],
            "parent": [f"p{i // 5}" if i % 3 else None for i in range(25)],
        }
    )
    grid = np.stack(np.meshgrid(np.linspace(west, east, 6), np.linspace(south, north, 6)), axis=2)
    grid[1:-1, 1:-1] += rng.uniform(-0.3, 0.3, (4, 4, 2)) * [(east - west) / 5, (north - south) / 5]
    corners = [(grid[r, c], grid[r, c + 1], grid[r + 1, c + 1], grid[r + 1, c]) for r in range(5) for c in range(5)]
    zones = pl.DataFrame(
        {
            "zone": [f"z{i}" for i in range(25)],
            "parent": [f"row {i // 5}" if i < 20 else None for i in range(25)],
            "polygon": [shapely.to_wkb(cut(shapely.Polygon(ring))) for ring in corners],
        }
    )
    return spatial.StudyArea(box, stations[::order], places[::order], zones[::order])


AREAS = {
    "Beijing": (116.0, 39.6, 116.8, 40.2),
    "across the equator": (-1.0, -0.7, 1.5, 1.1),
    "far north": (24.0, 69.0, 27.0, 70.0),
    "across the antimeridian": (178.6, -18.4, 180.9, -17.2),
    "by the pole": (150.0, -88.9, 190.0, -87.8),
}
CITIES = {name: area(box, seed) for seed, (name, box) in enumerate(AREAS.items())}
SPECS = [
    f"{kind}:{argument}".rstrip(":")
    for kind in spatial.names()
    for argument in getattr(importlib.import_module(f"trajlab.spatial.{kind}"), "EXAMPLES", ())
]


def covered(spec, box):
    """Whether an index can be built there: everywhere, or in what its module says that it `COVERS`."""
    module = importlib.import_module(f"trajlab.spatial.{spec.partition(':')[0]}")
    west, south, east, north = getattr(module, "COVERS", box)
    return west <= box[0] and south <= box[1] and east >= box[2] and north >= box[3]


INDEXES = {
    (spec, city): spatial.build(spec, CITIES[city])
    for spec in SPECS
    for city, box in AREAS.items()
    if covered(spec, box)
}
UPSIDE_DOWN = {name: area(box, seed, order=-1) for seed, (name, box) in enumerate(AREAS.items())}

every_index = pytest.mark.parametrize(
    ("index", "city"), [(index, city) for (_, city), index in INDEXES.items()], ids=map(" in ".join, INDEXES)
)
some = examples(few=6, many=30)
shares = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=20)
anywhere = st.lists(st.tuples(st.floats(-180, 180), st.floats(-90, 90)), min_size=1, max_size=20)


def inside(city, shares):
    """Points of the study box at these shares of its width and height."""
    west, south, east, north = AREAS[city]
    east_share, north_share = np.array(shares).T
    lon = (west + east_share * (east - west)).clip(west, east)
    return wrapped(lon), (south + north_share * (north - south)).clip(south, north)


def eastwards(polygons):
    """Polygons in two parts at the antimeridian with the eastern one beyond 180."""
    west, _, east, _ = shapely.bounds(polygons).T
    turned = shapely.transform(
        polygons, lambda xy: np.column_stack([np.where(xy[:, 0] < 0, xy[:, 0] + 360, xy[:, 0]), xy[:, 1]])
    )
    return np.where(east - west > 180, turned, polygons)


def bow(polygons):
    """How far an edge that is straight on the ground may bend in degrees."""
    west, south, east, north = shapely.bounds(eastwards(polygons)).T
    steep = 1 + np.tan(np.radians(np.minimum(np.maximum(np.abs(south), np.abs(north)), 80)))
    return 1e-9 + np.hypot(east - west, north - south) ** 2 * steep / 300


@pytest.mark.parametrize("kind", spatial.names())
def test_every_kind_gives_examples_for_the_laws(kind):
    module = importlib.import_module(f"trajlab.spatial.{kind}")
    assert getattr(module, "EXAMPLES", ()), (
        f"trajlab/spatial/{kind}.py defines INDEX but no EXAMPLES: list arguments to check the laws with, "
        f'for instance EXAMPLES = ("500",) for {kind}:500'
    )


@every_index
@some
@given(points=anywhere, seed=st.integers(0, 99))
def test_every_point_gets_one_cell_whatever_the_order_and_company(index, city, points, seed):
    lon, lat = np.array(points).T
    cells = index.assign(lon, lat)
    assert cells.dtype == np.uint64
    assert cells.shape == lon.shape
    order = np.random.default_rng(seed).permutation(len(points))
    assert np.array_equal(index.assign(lon[order], lat[order]), cells[order])
    assert index.assign(lon[-1:], lat[-1:])[0] == cells[-1]


@every_index
@some
@given(near=shares, far=anywhere)
def test_a_cell_contains_its_own_anchor(index, city, near, far):
    for lon, lat in (inside(city, near), np.array(far).T):
        cells = index.assign(lon, lat)
        assert np.array_equal(index.assign(*index.anchor(cells)), cells)


@every_index
@some
@given(points=shares)
def test_parents_depend_on_the_cell_alone_and_are_cells_of_the_coarser_index(index, city, points):
    cells = index.assign(*inside(city, points))
    parents = index.parent(cells)
    assert parents.dtype == np.uint64
    seen = dict(zip(cells.tolist(), parents.tolist(), strict=True))
    assert [seen[cell] for cell in cells.tolist()] == parents.tolist()
    assert np.array_equal(index.parent(cells[::-1]), parents[::-1])
    coarser = index.coarser()
    assert np.array_equal(coarser.assign(*coarser.anchor(parents)), parents)


@every_index
@some
@given(points=shares)
def test_all_but_hexagons_nest_exactly(index, city, points):
    lon, lat = inside(city, points)
    if not index.name.startswith("h3:"):
        assert np.array_equal(index.coarser().assign(lon, lat), index.parent(index.assign(lon, lat)))


@every_index
def test_coarsening_ends_at_an_index_that_is_its_own_parent(index, city):
    chain = [index]
    while chain[-1].coarser().name != chain[-1].name:
        chain.append(chain[-1].coarser())
        assert len(chain) < 40
    for fine, coarse in pairwise(chain):
        assert fine.coarser().name == coarse.name
    lon, lat = inside(city, [(0.1, 0.1), (0.9, 0.5)])
    top = chain[-1].assign(lon, lat)
    assert np.array_equal(chain[-1].parent(top), top)


@every_index
@some
@given(points=shares)
def test_a_polygon_holds_its_anchor_and_its_points(index, city, points):
    lon, lat = inside(city, points)
    cells = index.assign(lon, lat)
    polygons = index.polygon(cells)
    assert shapely.is_valid(polygons).all()
    assert (shapely.distance(polygons, shapely.points(*index.anchor(cells))) <= bow(polygons)).all()
    assert (shapely.distance(polygons, shapely.points(lon, lat)) <= bow(polygons)).all()


@every_index
@examples(few=5, many=30)
@given(points=shares)
def test_areas_are_those_of_the_polygons_on_the_ground(index, city, points):
    import pyproj

    cells = np.unique(index.assign(*inside(city, points)))
    areas = index.area_km2(cells)
    assert (areas > 0).all()
    geod = pyproj.Geod(ellps="WGS84")
    for polygon, told in zip(shapely.segmentize(index.polygon(cells), 0.02), areas, strict=True):
        assert abs(geod.geometry_area_perimeter(polygon)[0]) / 1e6 == pytest.approx(told, rel=3e-3)


@every_index
@some
@given(points=shares)
def test_an_index_is_rebuilt_from_its_name_and_its_tables_in_any_order(index, city, points):
    lon, lat = inside(city, points)
    again = spatial.build(index.name, UPSIDE_DOWN[city])
    assert (again.name, again.settings) == (index.name, index.settings)
    cells = index.assign(lon, lat)
    assert np.array_equal(again.assign(lon, lat), cells)
    assert again.label(cells) == index.label(cells)
    assert np.array_equal(again.parent(cells), index.parent(cells))
    assert json.loads(json.dumps(index.settings)) == index.settings


@every_index
def test_labels_tell_cells_apart(index, city):
    cells = np.unique(index.assign(*inside(city, np.random.default_rng(0).uniform(size=(200, 2)))))
    assert len(set(index.label(cells))) == len(cells)


@every_index
def test_points_off_the_globe_are_refused_with_their_number(index, city):
    for lon in (np.nan, 190.0, -180.001, np.inf):
        with pytest.raises(SpatialError, match=r"^2 of 3 points have no place on the globe"):
            index.assign(np.array([lon, 0.0, 0.0]), np.array([0.0, 0.0, 95.0]))


@every_index
def test_nothing_is_assigned_to_nothing(index, city):
    assert index.assign(np.array([]), np.array([])).tolist() == []
    with pytest.raises(SpatialError, match="must be two lists of one length"):
        index.assign(np.zeros(2), np.zeros(3))


@every_index
def test_unknown_cells_are_refused_with_their_number(index, city):
    known = index.assign(*inside(city, [(0.5, 0.5)]))[0]
    cells = np.array([2**64 - 1, known, 2**63 + 5], dtype=np.uint64)
    for question in (index.anchor, index.parent, index.polygon, index.area_km2, index.label):
        with pytest.raises(SpatialError, match=f"^2 of 3 cells are not cells of {index.name}$"):
            question(cells)


def test_an_unknown_kind_lists_those_that_exist():
    with pytest.raises(
        UnknownNameError,
        match="no spatial index named 'hex'; there are: h3, inspire, places, quadkey, square, stations, zones",
    ):
        spatial.build("hex:8", CITIES["Beijing"])


@pytest.mark.parametrize(
    "box", [(1, 0, 0, 1), (0, 1, 1, 0), (0, 0, 181, 1), (0, 0, 1, float("nan")), (8, 0, -171, 1), (178, 0, 359, 1)]
)
def test_a_box_that_is_no_box_is_refused(box):
    with pytest.raises(SpatialError, match="give west, south, east, north in degrees"):
        spatial.StudyArea(box)


@pytest.mark.parametrize("spec", ["stations", "zones", "places"])
def test_a_kind_that_needs_a_table_says_so(spec):
    with pytest.raises(SpatialError, match=f"{spec} need a table of {spec} .*, and the study has none"):
        spatial.build(spec, spatial.StudyArea((0, 0, 1, 1)))


@pytest.mark.parametrize("spec", ["stations", "zones", "places"])
def test_a_name_made_on_another_table_is_refused(spec):
    name = spatial.build(spec, CITIES["Beijing"]).name
    with pytest.raises(SpatialError, match=rf"was built on another table of {spec}: its hash is {name[-8:]}"):
        spatial.build(name, CITIES["far north"])


def test_a_box_across_the_antimeridian_may_be_given_either_way():
    assert (
        spatial.StudyArea((178, -20, -178, -10)).box
        == spatial.StudyArea((178, -20, 182, -10)).box
        == (178, -20, 182, -10)
    )


def metres(index, plane, lon, lat):
    """How far apart the anchors of neighbouring points are, by the plane that a release measures in."""
    x, y = plane.forward(*index.anchor(index.assign(lon, lat)))
    return np.hypot(np.diff(x), np.diff(y))


@pytest.mark.parametrize("spec", ["h3:6", "square:5000", "stations"])
@some
@given(points=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=20))
def test_distances_across_the_antimeridian_are_those_on_the_ground(spec, points):
    import pyproj

    city = CITIES["across the antimeridian"]
    index, (lon, lat) = spatial.build(spec, city), inside("across the antimeridian", points)
    told = metres(index, LocalMetres.amid(city.box), lon, lat)
    at_lon, at_lat = index.anchor(index.assign(lon, lat))
    _, _, true = pyproj.Geod(ellps="WGS84").inv(at_lon[:-1], at_lat[:-1], at_lon[1:], at_lat[1:])
    assert told == pytest.approx(np.asarray(true), rel=5e-4, abs=1e-3)


@some
@given(points=shares)
def test_distances_around_a_pole_are_nearly_those_on_the_ground(points):
    import pyproj

    lon, lat = np.array([*points, (0.0, 1.0)]).T * [[360.0], [5.0]] + [[-180.0], [85.0]]
    told = metres(spatial.build("h3:5", CITIES["far north"]), LocalMetres.amid((-180, 85, 180, 90)), lon, lat)
    at_lon, at_lat = spatial.build("h3:5", CITIES["far north"]).anchor(
        spatial.build("h3:5", CITIES["far north"]).assign(lon, lat)
    )
    _, _, true = pyproj.Geod(ellps="WGS84").inv(at_lon[:-1], at_lat[:-1], at_lon[1:], at_lat[1:])
    assert told == pytest.approx(np.asarray(true), rel=5e-3, abs=1e-3)


@pytest.mark.parametrize("spec", ["square:5000", "stations"])
def test_a_box_that_holds_a_pole_is_refused_where_cells_are_made_in_metres(spec):
    for box, said in (
        ((0.0, 85.0, 50.0, 90.0), "between -89 and 89 degrees of latitude, this one goes from 85 to 90; .* or use h3"),
        ((-180.0, 85.0, 180.0, 88.0), "at most 60 degrees each way, this one has 360 by 3; narrow the box or use h3"),
    ):
        with pytest.raises(SpatialError, match=said):
            spatial.build(spec, spatial.StudyArea(box, stations=CITIES["far north"].stations))


def test_a_square_that_holds_a_pole_is_drawn_around_it():
    plane = LocalMetres(150.0, -88.5)
    (drawn,) = plane.to_degrees(np.array([shapely.box(-3e5, -3e5, 3e5, 3e5)], dtype=object))
    assert shapely.is_valid(drawn)
    assert shapely.bounds(drawn)[[0, 2, 1]].round(7).tolist() == [-180, 180, -90]
    assert area_km2(np.array([drawn], dtype=object)) == pytest.approx(3.6e5, rel=1e-4)
