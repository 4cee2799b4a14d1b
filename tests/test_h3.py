import h3
import numpy as np
import pytest
import shapely
from conftest import examples
from h3.api import basic_int
from hypothesis import given
from hypothesis import strategies as st

from trajlab.errors import SpatialError
from trajlab.spatial import StudyArea, build

AREA = StudyArea((116.0, 39.6, 116.8, 40.2))


@examples(few=33, many=200)
@given(lon=st.floats(-180, 180), lat=st.floats(-90, 90), resolution=st.integers(0, 15))
def test_cells_centres_parents_and_labels_are_those_of_h3(lon, lat, resolution):
    index = build(f"h3:{resolution}", AREA)
    cell = index.assign(np.array([lon]), np.array([lat]))
    assert cell[0] == basic_int.latlng_to_cell(lat, lon, resolution)
    assert np.allclose(index.anchor(cell), [[x] for x in basic_int.cell_to_latlng(int(cell[0]))[::-1]], atol=1e-12)
    assert index.label(cell) == [h3.latlng_to_cell(lat, lon, resolution)]
    if resolution:
        assert index.parent(cell)[0] == basic_int.cell_to_parent(int(cell[0]))


@pytest.mark.parametrize("box", [(116.0, 39.6, 116.8, 40.2), (-1.0, -0.7, 1.5, 1.1), (100.0, -40.0, 140.0, 10.0)])
@pytest.mark.parametrize("resolution", [2, 5, 6, 7, 8])
def test_many_points_get_the_cells_that_few_get_even_on_the_edges_of_hexagons(box, resolution):
    index = build(f"h3:{resolution}", StudyArea(box))
    rng = np.random.default_rng(0)
    west, south, east, north = box
    lon, lat = rng.uniform(west, east, 100_000), rng.uniform(south, north, 100_000)
    hexagons = {basic_int.latlng_to_cell(y, x, resolution) for x, y in zip(lon[:300], lat[:300], strict=True)}
    corners = np.array([corner for cell in hexagons for corner in basic_int.cell_to_boundary(cell)])
    sides = (corners[:-1] + corners[1:]) / 2  # those between two cells are just more points
    edges = np.concatenate([corners, sides, *(corners + tiny for tiny in (1e-13, -1e-12, 1e-9, -1e-7))])
    lon = np.concatenate([lon, (edges[:, 1] + 180) % 360 - 180])
    lat = np.concatenate([lat, edges[:, 0]])
    few = [index.assign(x, y) for x, y in zip(np.array_split(lon, 50), np.array_split(lat, 50), strict=True)]
    assert np.array_equal(index.assign(lon, lat), np.concatenate(few))


@pytest.mark.parametrize("resolution", [0, 1])
def test_all_hexagons_together_cover_the_globe_once(resolution):
    index = build(f"h3:{resolution}", AREA)
    roots = [basic_int.str_to_int(cell) for cell in h3.get_res0_cells()]
    cells = np.array([c for root in roots for c in basic_int.cell_to_children(root, resolution)], dtype=np.uint64)
    polygons = index.polygon(cells)
    assert shapely.is_valid(polygons).all()
    assert shapely.area(polygons).sum() == pytest.approx(360 * 180, rel=1e-4)
    assert index.area_km2(cells).sum() == pytest.approx(510_065_621.724, rel=1e-4)


def test_a_hexagon_on_the_antimeridian_does_not_span_the_world():
    index = build("h3:5", AREA)
    cells = index.assign(np.array([180.0, -180.0]), np.array([-17.0, -17.0]))
    polygon = index.polygon(cells[:1])[0]
    assert cells[0] == cells[1]
    assert polygon.geom_type == "MultiPolygon"
    assert polygon.area < 0.1
    assert shapely.intersects(polygon, shapely.points([180.0, -180.0], [-17.0, -17.0])).all()


def test_areas_are_on_the_ellipsoid_and_so_within_a_percent_of_the_sphere_s():
    index = build("h3:8", AREA)
    cells = index.assign(np.array([116.4, 0.0, 20.0]), np.array([39.9, 0.0, 70.0]))
    sphere = [basic_int.cell_area(int(cell)) for cell in cells]
    assert index.area_km2(cells) == pytest.approx(sphere, rel=0.01)


def test_the_coarsest_cells_are_their_own_parents():
    index = build("h3:0", AREA)
    cells = index.assign(np.array([116.4]), np.array([39.9]))
    assert index.coarser().name == "h3:0"
    assert np.array_equal(index.parent(cells), cells)


@pytest.mark.parametrize("resolution", ["", "16", "-1", "8.5", "fine"])
def test_a_resolution_that_does_not_exist_is_refused(resolution):
    with pytest.raises(SpatialError, match=r"has no usable resolution: give 0 to 15, for example h3:8"):
        build(f"h3:{resolution}", AREA)


def test_cells_of_another_resolution_are_not_cells():
    cells = build("h3:9", AREA).assign(np.array([116.4]), np.array([39.9]))
    with pytest.raises(SpatialError, match="1 of 1 cells are not cells of h3:8"):
        build("h3:8", AREA).anchor(cells)
