"""Tiles of web maps: their names and numbers are those that map servers use."""

import numpy as np
import pyproj
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

import trajlab as tl
from trajlab.errors import SpatialError
from trajlab.report import words
from trajlab.spatial import StudyArea, build
from trajlab.spatial.quadkey import MOST, _gather, _spread

AREA = StudyArea((-1.0, -1.0, 1.0, 1.0))
MERCATOR = pyproj.Transformer.from_crs(4326, 3857, always_xy=True)
HALF = 20037508.342789244
"""Metres from the middle of the map to its edge."""


def tile_of(lon, lat, level):
    """Column and row in EPSG:3857, and the quadkey as Bing's documentation writes it: a digit a level."""
    x, y = MERCATOR.transform(lon, lat)
    column, row = (x + HALF) / (2 * HALF) * 2**level, (HALF - y) / (2 * HALF) * 2**level
    digits = [(int(column) >> n & 1) + 2 * (int(row) >> n & 1) for n in reversed(range(level))]
    return column, row, "".join(map(str, digits))


@examples(few=80, many=800)
@given(lon=st.floats(-179.9, 179.9), lat=st.floats(-85, 85), level=st.integers(1, MOST))
def test_a_quadkey_is_the_tile_of_web_mercator(lon, lat, level):
    column, row, quadkey = tile_of(lon, lat, level)
    index = build(f"quadkey:{level}", AREA)
    if all(0.001 < n % 1 < 0.999 for n in (column, row)):
        assert index.label(index.assign(np.array([lon]), np.array([lat]))) == [quadkey]


def test_the_example_of_the_documentation():
    """Tile 3, 5 of level 3 has the quadkey 213, in Bing's description of its tiles."""
    index = build("quadkey:3", AREA)
    cell = np.array([int("213", 4)], dtype=np.uint64)
    assert index.label(cell) == ["213"]
    west, south, east, north = index.polygon(cell)[0].bounds
    assert (west, east) == (-45, 0)
    assert MERCATOR.transform(0, north)[1] == pytest.approx(HALF - 5 * HALF / 4)
    assert MERCATOR.transform(0, south)[1] == pytest.approx(HALF - 6 * HALF / 4)


@given(numbers=st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=9))
def test_bits_are_spread_and_gathered(numbers):
    spread = _spread(np.array(numbers, dtype=np.uint64))
    assert [f"{n:b}" for n in spread.tolist()] == ["0".join(f"{n:b}") for n in numbers]
    assert _gather(spread).tolist() == numbers
    assert _gather(spread << np.uint64(1)).tolist() == [0] * len(numbers)


def test_a_tile_lies_in_the_tile_without_its_last_digit():
    fine, coarse = build("quadkey:15", AREA), build("quadkey:14", AREA)
    cells = fine.assign(np.array([12.5, -70.1]), np.array([41.9, -33.4]))
    assert coarse.label(fine.parent(cells)) == [key[:-1] for key in fine.label(cells)]
    assert fine.coarser().name == "quadkey:14"


def test_the_poles_belong_to_the_tiles_at_the_end_of_the_map():
    index = build("quadkey:4", AREA)
    cells = index.assign(np.array([10.0, 10.0, 10.0]), np.array([90.0, 86.0, 84.0]))
    assert len(set(cells.tolist())) == 1
    assert index.polygon(cells[:1])[0].bounds[3] == 90
    whole = index.area_km2(np.arange(4**4, dtype=np.uint64)).sum()
    assert whole == pytest.approx(510_065_622, rel=1e-6), "all tiles together are the globe"


@pytest.mark.parametrize("level", ["0", "25", "-1", "x", "", "1.5"])
def test_a_level_is_a_whole_number(level):
    with pytest.raises(
        SpatialError, match=f"quadkey:{level} has no usable level: give 1 to 24, for example quadkey:15"
    ):
        build(f"quadkey:{level}", AREA)


def test_a_release_in_tiles_has_their_quadkeys():
    with tl.open(":memory:") as lab:
        lab.ingest(tl.simulate(people=5, days=1), tz="Europe/Lisbon")
        release = lab.release("quadkey:14", "1h")
        labels = lab.table("grid.cell")["label"].to_list()
        assert release.people == 5
        assert all(len(label) == 14 and set(label) <= set("0123") for label in labels)
    assert words.cells("quadkey:14") == "Web map tiles of level 14"
