import numpy as np
import pyproj
import pytest
import shapely
from conftest import examples
from hypothesis import example, given
from hypothesis import strategies as st

from trajlab.errors import SpatialError
from trajlab.spatial._projection import RADIUS, LocalMetres, area_km2

KM_300 = 2.6  # degrees of latitude


@examples(few=67, many=400)
@given(
    lon0=st.floats(-180, 180).map(lambda lon: round(lon, 6)),  # pyproj takes 1e-9 in its text for 0
    lat0=st.floats(-80, 80).map(lambda lat: round(lat, 6)),
    east=st.floats(-KM_300, KM_300),
    north=st.floats(-KM_300, KM_300),
)
@example(lon0=179.9, lat0=0.0, east=2.0, north=2.0)
def test_metres_agree_with_pyproj_within_a_micrometre(lon0, lat0, east, north):
    reference = pyproj.Proj(f"+proj=laea +lat_0={lat0!r} +lon_0={lon0!r} +ellps=WGS84")
    lon = (lon0 + east + 180) % 360 - 180
    x, y = LocalMetres(lon0, lat0).forward([lon], [lat0 + north])
    assert np.hypot(x[0] - reference(lon, lat0 + north)[0], y[0] - reference(lon, lat0 + north)[1]) < 1e-6


@examples(few=67, many=400)
@given(
    x=st.floats(-3e5, 3e5),
    y=st.floats(-3e5, 3e5),
    centre=st.tuples(st.floats(-180, 180), st.floats(-80, 80)),
)
@example(x=0.0, y=1.0, centre=(116.4, 39.9))
@example(x=0.0, y=0.0, centre=(180.0, 0.0))
def test_there_and_back_again(x, y, centre):
    plane = LocalMetres(*centre)
    lon, lat = plane.inverse([x], [y])
    assert -180 <= lon[0] <= 180
    assert np.allclose(np.ravel(plane.forward(lon, lat)), [x, y], rtol=0, atol=1e-6)


def test_the_way_back_agrees_with_pyproj_within_its_millimetres():
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-3e5, 3e5, (2, 1000))
    plane = LocalMetres(116.4, 39.9)
    theirs = pyproj.Proj("+proj=laea +lat_0=39.9 +lon_0=116.4 +ellps=WGS84")(x, y, inverse=True)
    assert np.allclose(plane.inverse(x, y), theirs, rtol=0, atol=2e-8)


def test_the_whole_globe_gets_metres_even_opposite_the_centre():
    lon, lat = np.meshgrid(np.linspace(-180, 180, 73), np.linspace(-90, 90, 37))
    x, y = LocalMetres(0.0, 0.0).forward(lon.ravel(), lat.ravel())
    assert np.isfinite(x).all()
    assert np.isfinite(y).all()


def test_areas_add_up_to_the_ellipsoid():
    west, south = np.meshgrid(np.arange(-180, 180, 30), np.arange(-90, 90, 30))
    tiles = shapely.box(west.ravel(), south.ravel(), west.ravel() + 30, south.ravel() + 30)
    assert area_km2(tiles).sum() == pytest.approx(4 * np.pi * RADIUS**2 / 1e6, rel=1e-9)
    assert 4 * np.pi * RADIUS**2 / 1e6 == pytest.approx(510_065_621.724, abs=0.01)


def test_a_box_too_wide_for_one_plane_is_refused():
    with pytest.raises(SpatialError, match=r"at most 60 degrees each way, this one has 100 by 20; .* use h3"):
        LocalMetres.centred((-50, 0, 50, 20))
