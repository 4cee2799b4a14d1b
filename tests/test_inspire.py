"""The European statistical grid: its codes are those that statistical offices publish."""

import numpy as np
import polars as pl
import pyproj
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

import trajlab as tl
from trajlab.errors import SpatialError
from trajlab.report import words
from trajlab.spatial import StudyArea, build
from trajlab.spatial.inspire import COVERS, short_code
from trajlab.study.ladders import _coarser

EUROPE = StudyArea(COVERS)
TO_GRID = pyproj.Transformer.from_crs(4326, 3035, always_xy=True)
lons, lats = st.floats(COVERS[0], COVERS[2]), st.floats(COVERS[1], COVERS[3])


@examples(few=60, many=500)
@given(lon=lons, lat=lats, side=st.sampled_from([1, 25, 100, 250, 500, 1000, 2000, 5000, 10_000, 100_000]))
def test_a_code_is_the_corner_of_the_square_in_epsg_3035(lon, lat, side):
    east, north = TO_GRID.transform(lon, lat)
    index = build(f"inspire:{side}", EUROPE)
    (code,) = index.label(index.assign(np.array([lon]), np.array([lat])))
    if min(east % side, side - east % side, north % side, side - north % side) > 0.001:
        assert code == f"CRS3035RES{side}mN{int(north // side) * side}E{int(east // side) * side}"


def test_the_cell_of_a_known_code_lies_where_the_code_says():
    index = build("inspire:1000", EUROPE)
    lon, lat = pyproj.Transformer.from_crs(3035, 4326, always_xy=True).transform(4_337_001, 2_689_999)
    cells = index.assign(np.array([lon]), np.array([lat]))
    assert index.label(cells) == ["CRS3035RES1000mN2689000E4337000"]
    corners = np.array(index.polygon(cells)[0].exterior.coords)
    east, north = TO_GRID.transform(*corners.T)
    assert [east.min(), north.min(), east.max(), north.max()] == pytest.approx(
        [4_337_000, 2_689_000, 4_338_000, 2_690_000], abs=0.01
    )


def test_cells_do_not_depend_on_the_study_box():
    lon, lat = np.array([11.1, 11.5]), np.array([48.1, 48.4])
    small, large = build("inspire:100", StudyArea((11, 48, 12, 49))), build("inspire:100", EUROPE)
    assert np.array_equal(small.assign(lon, lat), large.assign(lon, lat))
    assert small.settings == large.settings


@pytest.mark.parametrize(
    ("code", "short"),
    [
        ("CRS3035RES1000mN2689000E4337000", "1kmN2689E4337"),
        ("CRS3035RES100mN2689100E4337000", "100mN26891E43370"),
        ("CRS3035RES10000mN2680000E4330000", "10kmN268E433"),
        ("CRS3035RES250mN2689250E4337000", "250mN268925E433700"),
    ],
)
def test_a_short_code_leaves_out_the_zeros_of_the_side(code, short):
    assert short_code(code) == short


def test_what_is_no_code_has_no_short_one():
    with pytest.raises(SpatialError, match="'1kmN2689E4337' is not the code of a cell"):
        short_code("1kmN2689E4337")


@pytest.mark.parametrize(
    ("text", "name"), [("1km", "inspire:1000"), ("100m", "inspire:100"), ("100km", "inspire:100000")]
)
def test_a_side_may_have_its_unit(text, name):
    assert build(f"inspire:{text}", EUROPE).name == name


@pytest.mark.parametrize("side", ["", "0", "-100", "300", "1e3", "250.0", "1000000", "2500km", "١٠٠"])
def test_a_side_that_the_grid_does_not_have_is_refused(side):
    with pytest.raises(
        SpatialError, match="is no side of the European grid: give metres, 1, 2, 5, 10, .* inspire:1000"
    ):
        build(f"inspire:{side}", EUROPE)


@pytest.mark.parametrize("box", [(116, 39, 117, 40), (-33, 30, 0, 40), (0, 26, 1, 30), (0, 40, 46, 50), (0, 80, 1, 83)])
def test_a_study_box_beyond_europe_is_refused(box):
    with pytest.raises(SpatialError, match="inspire:100 covers Europe, longitude -32 to 45 .* use square or h3"):
        build("inspire:100", StudyArea(box))


@pytest.mark.parametrize(("fine", "coarse"), [(100, 1000), (250, 1000), (500, 1000), (2000, 10_000), (10_000, 100_000)])
def test_every_side_nests_in_the_next_power_of_ten(fine, coarse):
    index = build(f"inspire:{fine}", EUROPE)
    lon, lat = np.meshgrid(np.linspace(12, 12.5, 150), np.linspace(55.5, 55.9, 150))
    cells = np.unique(index.assign(lon.ravel(), lat.ravel()))
    parents = index.parent(cells)
    assert index.coarser().name == f"inspire:{coarse}"
    assert np.array_equal(index.coarser().assign(*index.anchor(cells)), parents)


def test_a_release_has_the_codes_as_labels():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "uid": [f"p{i % 20}" for i in range(400)],
            "ts": [f"2024-05-01T{i // 20:02d}:00:00Z" for i in range(400)],
            "lat": rng.uniform(52.4, 52.6, 400),
            "lng": rng.uniform(13.3, 13.5, 400),
        }
    )
    with tl.open(":memory:") as lab:
        lab.ingest(frame, kind="gps")
        release = lab.release(index="inspire:1km", slot="1h", protect=["generalise:inspire:10000"], tz="UTC")
        found = lab.sql("select name, label, lng, lat from grid.cell join grid.index using (index_id) order by all")
        assert set(found["name"]) >= {"inspire:10000"}
        assert set(found.filter(name="inspire:10000")["label"]) >= {"CRS3035RES10000mN3270000E4550000"}
        assert len(release.cells) == len(found.filter(name="inspire:10000"))


def test_words_and_larger_cells_are_those_of_the_grid():
    assert words.cells("inspire:1000") == "European grid cells of 1\N{NO-BREAK SPACE}km"
    assert _coarser("inspire:250") == ["inspire:1000", "inspire:10000"]
    assert _coarser("inspire:10000") == ["inspire:100000"]
