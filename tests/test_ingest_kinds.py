"""Calls, Wi-Fi sessions, GeoLife and Porto: what each kind makes of its files."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest
from test_ingest import FIXTURES, GOOD, assert_law, empty_lab, fixes, rejected

import trajlab as tl
from trajlab import spatial
from trajlab.errors import IngestError
from trajlab.ingest import add_places, add_stations, ingest

BROKEN = FIXTURES / "broken"


def test_calls_get_the_coordinates_of_their_station():
    con = empty_lab()
    done = ingest(con, BROKEN / "unknown_station.csv", kind="cdr", stations=BROKEN / "stations.csv")
    assert rejected(con) == [(2, "unknown station"), (3, "station missing")]
    assert [(f[0], f[1], *f[3:]) for f in fixes(con)] == [(1, "ana", 38.73, -9.16, "A"), (4, "ben", 38.71, -9.12, "B")]
    assert con.sql("select direction from records.call order by source_row").fetchall() == [("out",), ("in",)]
    assert done.mapping == {"uid": "uid", "ts": "ts", "station": "cell_id", "direction": "direction"}
    assert_law(con)


def test_a_station_table_may_come_before_the_calls():
    con = empty_lab()
    notes = add_stations(con, BROKEN / "stations_one_spot.csv")
    assert notes[1] == "stations_one_spot.csv: 3 stations stand on 2 spots; some share a mast"
    assert ingest(con, BROKEN / "unknown_station.csv", kind="cdr").kept == 2


def test_calls_without_any_way_to_a_coordinate_are_refused():
    with pytest.raises(IngestError, match="records name stations, but the lab knows none: pass stations="):
        ingest(empty_lab(), BROKEN / "unknown_station.csv", kind="cdr")
    with pytest.raises(IngestError, match="neither a station column nor lat and lng"):
        ingest(empty_lab(), pl.DataFrame(GOOD).drop("lat"), kind="cdr")


def test_calls_with_coordinates_need_no_table():
    con = empty_lab()
    ingest(con, pl.DataFrame(GOOD).with_columns(antenna_id=pl.Series([1, 2, 3])), kind="cdr")
    assert [f[5] for f in fixes(con)] == ["1", "2", "3"]
    assert [f[3] for f in fixes(con)] == GOOD["lat"]


def test_a_station_in_use_cannot_be_moved():
    con = empty_lab()
    ingest(con, BROKEN / "unknown_station.csv", kind="cdr", stations=BROKEN / "stations.csv")
    add_stations(con, pl.DataFrame({"station": ["A", "C"], "lat": [38.73, 0.0], "lng": [-9.16, 0.0]}))
    add_stations(con, pl.DataFrame({"station": ["C"], "lat": [1.0], "lng": [1.0]}))
    assert con.sql("from records.station order by station").fetchall()[2] == ("C", 1.0, 1.0)
    with pytest.raises(IngestError, match="already use other coordinates for A"):
        add_stations(con, pl.DataFrame({"station": ["A"], "lat": [0.0], "lng": [0.0]}))


def test_wifi_places_may_lack_coordinates():
    con = empty_lab()
    ingest(con, BROKEN / "unknown_place.csv", kind="wifi", places=BROKEN / "places.csv")
    assert rejected(con) == [(2, "unknown place")]
    assert [f[3:] for f in fixes(con)] == [(38.73, -9.16, "library"), (None, None, "canteen")]
    assert ("library", 38.73, -9.16, "north campus") in con.table("records.place").fetchall()
    assert_law(con)


def test_without_a_table_the_places_seen_are_noted():
    con = empty_lab()
    ingest(con, BROKEN / "unknown_place.csv", kind="wifi")
    assert con.sql("select place, lat from records.place order by place").fetchall() == [
        ("canteen", None), ("library", None), ("nowhere", None)
    ]  # fmt: skip
    with_degrees = pl.DataFrame(GOOD).with_columns(building=pl.Series(["gym", "gym", None]), uid=pl.lit("cid"))
    done = ingest(con, with_degrees, kind="wifi")
    assert done.rejected == {"place missing": 1}
    ((lat,),) = con.sql("select lat from records.place where place = 'gym'").fetchall()
    assert lat == pytest.approx((38.71 + 38.73) / 2)


def hall_records(seed: int) -> pl.DataFrame:
    """Many fixes of a few halls, one of them on the antimeridian, in an order of their own."""
    rng, n = np.random.default_rng(7), 40_000
    hall = rng.integers(0, 5, n)
    east = np.where(hall == 4, 180, 20 * hall) + rng.normal(0, 0.01, n)
    frame = pl.DataFrame(
        {
            "uid": [f"u{i % 50}" for i in range(n)],
            "ts": 1_700_000_000 + np.arange(n),
            "lat": 38 + rng.normal(0, 0.01, n),
            "lng": np.where(east > 180, east - 360, east),
            "ap": [f"hall {h}" for h in hall],
        }
    )
    return frame.sample(fraction=1.0, shuffle=True, seed=seed)


def test_places_seen_lie_at_the_same_mean_whatever_the_threads_and_the_order_of_rows():
    found = set()
    for threads, seed in ((1, 0), (2, 0), (4, 0), (1, 1), (2, 2)):
        con = empty_lab()
        con.execute(f"set threads = {threads}")
        ingest(con, hall_records(seed), kind="wifi")
        places = con.sql("select place, lat, lng, parent from records.place").pl()
        assert abs(places.sort("place")["lng"].to_numpy()) == pytest.approx([0, 20, 40, 60, 180], abs=0.01)
        found.add(spatial.build("places", spatial.StudyArea((-180, -90, 180, 90), places=places)).name)
    assert len(found) == 1


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "stations_decimal_commas.csv",
            "row 1 is not sound: too many fields; give every row the fields of the header, no more",
        ),
        ("stations_latin1.csv", "row 1 is not sound: not UTF-8 (2 rows in all); save the table as UTF-8"),
    ],
)
def test_a_reference_table_with_a_torn_row_is_refused(name, said):
    with pytest.raises(IngestError) as refusal:
        add_stations(empty_lab(), BROKEN / name)
    assert str(refusal.value) == f"{name}: {said}"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("people_surplus.csv", "row 2 is not sound: too many fields; give every row the fields of the header, no more"),
        ("people_latin1.csv", "row 1 is not sound: not UTF-8; save the table as UTF-8"),
    ],
)
def test_a_people_table_with_a_torn_row_is_refused(name, said):
    with tl.open(":memory:") as lab, pytest.raises(IngestError) as refusal:
        lab.people(BROKEN / name)
    assert str(refusal.value) == f"{name}: {said}"


def test_half_a_coordinate_is_no_coordinate():
    con = empty_lab()
    rows = pl.DataFrame(GOOD).with_columns(
        ap=pl.lit("gym"), lng=pl.Series([None, -9.1, None]), lat=pl.Series([1.0, 2.0, None])
    )
    done = ingest(con, rows, kind="wifi")
    assert rejected(con) == [(1, "longitude missing")]
    assert done.kept == 2


def test_two_names_for_a_place_are_refused():
    rows = pl.DataFrame(GOOD).with_columns(ap=pl.lit("1"), building=pl.lit("2"))
    with pytest.raises(IngestError, match="'ap', 'building' could each be 'place'"):
        ingest(empty_lab(), rows, kind="wifi")
    con = empty_lab()
    ingest(con, rows, kind="wifi", columns={"place": "building"})
    assert {f[5] for f in fixes(con)} == {"2"}


def test_an_access_point_lies_in_its_building():
    con = empty_lab()
    notes = add_places(con, pl.DataFrame({"ap": ["a1", "a2"], "building": ["gym", "gym"]}))
    assert con.table("records.place").fetchall() == [("a1", None, None, "gym"), ("a2", None, None, "gym")]
    assert notes == ["polars DataFrame: the lab now knows 2 places, 2 of them without coordinates"]


def test_geolife_reads_all_users_at_once():
    con = empty_lab()
    done = ingest(con, FIXTURES / "geolife", kind="geolife")
    assert (done.rows, done.kept, done.sources) == (7, 6, ["geolife"])
    assert rejected(con) == [(5, "latitude outside -90..90")]
    first = int(dt.datetime(2008, 10, 23, 2, 53, 4, tzinfo=dt.UTC).timestamp()) * 10**6
    assert fixes(con)[0] == (1, "000", first, 39.984702, 116.318417, None)
    assert [f[1] for f in fixes(con)] == ["000"] * 4 + ["001"] * 2
    assert_law(con)
    assert ingest(con, FIXTURES / "geolife", kind="geolife").skipped_sources == ["geolife"]


def test_geolife_wants_its_folder(tmp_path):
    with pytest.raises(IngestError, match="reads a folder of <user>/Trajectory"):
        ingest(empty_lab(), FIXTURES / "porto" / "train.csv", kind="geolife")
    (tmp_path / "a.plt").write_text("x")
    with pytest.raises(IngestError, match="a.plt: not inside a folder <user>/Trajectory"):
        ingest(empty_lab(), tmp_path, kind="geolife")
    with pytest.raises(IngestError, match="kind 'geolife' has a fixed layout"):
        ingest(empty_lab(), FIXTURES / "geolife", kind="geolife", columns={"uid": "x"})


def test_porto_trips_become_points_15_seconds_apart():
    con = empty_lab()
    done = ingest(con, FIXTURES / "porto" / "train.csv", kind="porto")
    assert (done.rows, done.kept) == (8, 5)
    assert rejected(con) == [
        (3, "trip has missing points"), (4, "trip without points"), (5, "polyline not understood")
    ]  # fmt: skip
    start = 1372636858 * 10**6
    assert fixes(con)[:3] == [
        (1, "20000589", start, 41.141412, -8.618643, None),
        (1, "20000589", start + 15_000_000, 41.141376, -8.618499, None),
        (1, "20000589", start + 30_000_000, 41.14251, -8.620326, None),
    ]


def test_reference_tables_belong_to_their_kind():
    with pytest.raises(IngestError, match="stations= means nothing for kind 'gps'"):
        ingest(empty_lab(), pl.DataFrame(GOOD), stations=BROKEN / "stations.csv")
