import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

from trajlab.errors import SpatialError
from trajlab.spatial import StudyArea, build

BEIJING = StudyArea((116.0, 39.6, 116.8, 40.2))

boxes = st.tuples(st.floats(-179, 170), st.floats(-85, 80), st.floats(0, 4), st.floats(0, 4)).map(
    lambda b: (b[0], b[1], b[0] + b[2], b[1] + b[3])
)


def test_the_corner_cell_counts_from_the_south_west():
    index = build("square:500", BEIJING)
    east = index.assign(np.array([116.0, 116.01]), np.array([39.6, 39.6]))
    assert index.label(east) == ["0,0", "1,0"] or index.label(east) == ["0,1", "1,1"]
    assert index.area_km2(east).tolist() == [0.25, 0.25]


def test_points_outside_the_box_are_moved_to_its_edge():
    index = build("square:500", BEIJING)
    outside, edge = np.array([[100.0, 50.0], [117.0, 39.9]]), np.array([[116.0, 40.2], [116.8, 39.9]])
    assert np.array_equal(index.assign(*outside.T), index.assign(*edge.T))


@examples(few=50, many=300)
@given(box=boxes, side=st.floats(1, 1e6), shares=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1))
def test_every_box_is_covered_and_every_sliver_of_it_has_its_anchor(box, side, shares):
    index = build(f"square:{side:.3f}", StudyArea(box))
    west, south, east, north = box
    corners = [(x, y) for x in (0, 0.5, 1) for y in (0, 0.5, 1)]
    edges = [*((x, y) for x, _ in shares for y in (0, 1)), *((x, y) for _, y in shares for x in (0, 1))]
    share = np.array([*shares, *corners, *edges])
    cells = index.assign(west + share[:, 0] * (east - west), south + share[:, 1] * (north - south))
    assert ((cells & np.uint64(2**32 - 1)) < index.columns).all()
    assert ((cells >> np.uint64(32)) < index.rows).all()
    assert np.array_equal(index.assign(*index.anchor(cells)), cells)


def test_every_cell_along_the_edges_of_a_box_has_its_anchor():
    index = build("square:37", BEIJING)
    west, south, east, north = BEIJING.box
    along = np.linspace(0, 1, 40_001)
    lon = np.concatenate([west + along * (east - west)] * 2 + [np.full(40_001, west), np.full(40_001, east)])
    up = south + along * (north - south)
    lat = np.concatenate([np.full(40_001, south), np.full(40_001, north), up, up])
    cells = np.unique(index.assign(lon, lat))
    assert np.array_equal(index.assign(*index.anchor(cells)), cells)


def test_four_squares_fill_their_parent():
    index = build("square:500", BEIJING)
    lon, lat = np.meshgrid(np.linspace(116.3, 116.5, 200), np.linspace(39.8, 39.95, 200))
    cells = np.unique(index.assign(lon.ravel(), lat.ravel()))
    parents, children = np.unique(index.parent(cells), return_counts=True)
    assert children.max() == 4
    assert 4 * index.area_km2(cells)[0] == index.coarser().area_km2(parents)[0]


def test_a_cell_of_the_lattice_that_the_box_never_touches_is_unknown():
    index = build("square:10", StudyArea((24.0, 69.0, 27.0, 70.0)))
    with pytest.raises(SpatialError, match="1 of 1 cells are not cells of square:10"):
        index.anchor(np.array([np.uint64(index.rows - 1) << np.uint64(32)]))


def test_squares_like_hexagons_are_as_large_as_hexagons():
    squares, hexagons = build("square:like=h3:8", BEIJING), build("h3:8", BEIJING)
    here = np.array([116.4]), np.array([39.9])
    assert squares.name == f"square:{squares.side:.3f}".rstrip("0").rstrip(".")
    assert squares.area_km2(squares.assign(*here))[0] == pytest.approx(
        hexagons.area_km2(hexagons.assign(*here))[0], rel=0.01
    )


@pytest.mark.parametrize("side", ["", "0", "-5", "nan", "inf", "0.5", "2e8", "five"])
def test_a_senseless_side_is_refused_with_what_is_allowed(side):
    with pytest.raises(SpatialError, match=r"has no usable side: give metres from 1 to 100000000, for example"):
        build(f"square:{side}", BEIJING)


def test_a_whole_number_of_millimetres_names_the_index():
    assert build("square:500.0", BEIJING).name == "square:500"
    assert build("square:333.33333", BEIJING).name == "square:333.333"


def test_a_study_of_one_spot_is_one_square():
    index = build("square:500", StudyArea((116.4, 39.9, 116.4, 39.9)))
    assert (index.columns, index.rows) == (1, 1)
    assert index.coarser() is index
