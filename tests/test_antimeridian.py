"""A town on the antimeridian is published as the same town elsewhere."""

from __future__ import annotations

import datetime as dt
import json

import numpy as np
import polars as pl
import pytest
import shapely

import trajlab as tl
from trajlab.errors import ReleaseError, UtilityError
from trajlab.spatial._globe import wrapped
from trajlab.spatial._projection import LocalMetres


def town(middle: int) -> tl.Lab:
    """Thirty people who walk about in half a degree around a meridian, on a lattice that degrees keep exactly."""
    rng, (people, hours) = np.random.default_rng(3), (30, 24)
    walk = rng.integers(-8, 9, (2, people, hours)).cumsum(axis=2).clip(-128, 128)
    east, north = (walk + rng.integers(-128, 129, (2, people, 1))).reshape(2, -1) / 512
    lab = tl.open(":memory:")
    records = {
        "uid": np.repeat([f"u{i:02}" for i in range(people)], hours),
        "ts": [dt.datetime(2024, 3, 4, tzinfo=dt.UTC) + dt.timedelta(hours=h) for h in range(hours)] * people,
        "lat": -17.5 + north,
        "lng": wrapped(middle + east),
    }
    lab.ingest(pl.DataFrame(records), tz="UTC")
    return lab


@pytest.fixture(scope="module")
def labs():
    with town(180) as across, town(60) as elsewhere:
        yield across, elsewhere


def test_squares_across_the_antimeridian_are_those_of_the_same_town_elsewhere(labs):
    counts, places = [], []
    for lab in labs:
        release = lab.release(index="square:5000", slot="60min", fill="linear")
        counts.append(release.counts.rows())
        places.append(lab.sql("select cell, x, y, polygon, lng from grid.cell order by cell"))
    assert counts[0] == counts[1]
    assert len(counts[0]) > 100
    here, there = places
    assert np.allclose(here.select("x", "y"), there.select("x", "y"), rtol=0, atol=1e-3)
    assert np.allclose(wrapped(here["lng"].to_numpy() - 120), there["lng"], rtol=0, atol=1e-7)
    lon0, lat0 = labs[0].sql("select lon0, lat0 from grid.index").row(0)
    flat = LocalMetres(lon0, lat0).to_metres(shapely.from_wkt(here["polygon"].to_numpy()))
    assert (np.ptp(shapely.bounds(flat)[:, [0, 2]], axis=1) < 5001).all()


def test_the_study_box_goes_across_the_antimeridian(labs):
    for lab in labs:
        lab.release(index="square:5000", slot="60min", fill="linear")
    found = "select settings from grid.index where name = 'square:5000'"
    boxes = [json.loads(lab.sql(found).item())["box"] for lab in labs]
    assert boxes[0][0] < 180 < boxes[0][2] < 182
    assert np.allclose(np.array(boxes[0]) - [120, 0, 120, 0], boxes[1], rtol=0, atol=2e-3)


@pytest.mark.parametrize("box", [(179.75, -17.75, -179.75, -17.25), (179.75, -17.75, 180.25, -17.25)])
def test_a_box_across_the_antimeridian_keeps_what_lies_in_it(labs, box):
    across, elsewhere = labs
    here = across.release(index="h3:6", slot="60min", box=box, outside="drop")
    there = elsewhere.release(index="h3:6", slot="60min", box=(59.75, -17.75, 60.25, -17.25), outside="drop")
    assert (
        here.counts.group_by("slot")
        .agg(pl.col("people").sum())
        .sort("slot")
        .equals(there.counts.group_by("slot").agg(pl.col("people").sum()).sort("slot"))
    )
    assert np.ptp(here.xy(), axis=0).max() < 60_000


def test_a_box_from_east_to_west_over_more_than_half_the_globe_is_refused(labs):
    with pytest.raises(ReleaseError, match="west > east only across the antimeridian, at most 180 degrees wide"):
        labs[0].release(index="h3:6", box=(10, -20, 0, -10))


def test_flows_between_zones_are_not_compared_across_the_antimeridian(labs):
    release = labs[0].release(index="h3:6", slot="60min")
    with pytest.raises(UtilityError, match="lies across the antimeridian, where flows between zones are not compared"):
        labs[0].utility(release, "h3:5", zones="square:10000")
