"""Releases of the tiny town, and laws of releases of random towns."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter

import polars as pl
import pytest
from conftest import TINY, TINY_BOX, examples, tiny_lab
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import trajlab as tl
from trajlab.errors import ReleaseError, SlotError, SpatialError, UnknownNameError

MONDAY = dt.datetime(2024, 3, 4, tzinfo=dt.UTC)
SPOTS = [(38.700, -9.170), (38.705, -9.160), (38.710, -9.150), (38.7101, -9.1501), (38.74, -9.11)]
BOX = (-9.2, 38.69, -9.1, 38.75)

fixes = st.lists(
    st.tuples(st.sampled_from("abcde"), st.integers(0, 3 * 24 * 60 - 1), st.sampled_from(range(len(SPOTS)))),
    min_size=1,
    max_size=40,
    unique=True,
)


def frame(rows: list[tuple[str, int, int]]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "uid": [u for u, _, _ in rows],
            "ts": [MONDAY + dt.timedelta(minutes=m) for _, m, _ in rows],
            "lat": [SPOTS[s][0] for _, _, s in rows],
            "lng": [SPOTS[s][1] for _, _, s in rows],
        }
    )


def positions_by_hand(
    rows: list[tuple[str, int, int]], cell_of: dict[int, int], fill: str
) -> dict[tuple[str, int], int]:
    """The obvious version of slots.position: hourly slots, a loop over people."""
    known: dict[tuple[str, int], int] = {}
    for person, slot in {(u, m // 60) for u, m, _ in rows}:
        here = [(m, cell_of[s]) for u, m, s in rows if u == person and m // 60 == slot]
        tally = Counter(cell for _, cell in here)
        known[person, slot] = min(tally, key=lambda cell: (-tally[cell], min(m for m, c in here if c == cell), cell))
    if fill == "none":
        return known
    last_day = max(m for _, m, _ in rows) // 1440
    filled = {}
    for person in {u for u, _, _ in rows}:
        mine = sorted(slot for u, slot in known if u == person)
        for slot in range((last_day + 1) * 24 if min(m for _, m, _ in rows) < 1440 else 0):
            before = [s for s in mine if s <= slot]
            filled[person, slot] = known[person, before[-1] if before else mine[0]]
    return filled


@examples(few=6, many=80)
@given(rows=fixes, fill=st.sampled_from(["static", "none"]))
def test_positions_and_counts_equal_the_obvious_version(rows, fill):
    rows = [*rows, ("a", 0, 0)] if ("a", 0, 0) not in rows else rows
    lab = tl.open(":memory:")
    lab.ingest(frame(rows), tz="UTC")
    lab.release(index="square:500", slot="1h", fill=fill, box=BOX)
    cells = lab.sql("select distinct lat, lng, g.cell from records.fix f join grid.fix g using (person, ts)")
    found = {}
    for lat, lng, cell in cells.iter_rows():
        found.setdefault((lat, lng), set()).add(cell)
    index = tl.spatial.build("square:500", tl.spatial.StudyArea(BOX))
    cell_of = {
        i: int(index.assign(pl.Series([lng]).to_numpy(), pl.Series([lat]).to_numpy())[0])
        for i, (lat, lng) in enumerate(SPOTS)
    }
    expected = positions_by_hand(rows, cell_of, fill)
    got = lab.sql("select uid, slot, cell from slots.position join records.person using (person)")
    assert {(u, s): c for u, s, c in got.iter_rows()} == expected
    counts = lab.sql("select slot, cell, people from counts.occupancy")
    assert {(s, c): n for s, c, n in counts.iter_rows()} == Counter((s, c) for (_, s), c in expected.items())
    lab.close()


@examples(few=5, many=50)
@given(
    rows=fixes,
    seed=st.randoms(use_true_random=False),
    min_count=st.integers(1, 3),
    fill=st.sampled_from(["static", "none"]),
)
def test_polars_and_sql_count_alike_whatever_the_order_of_rows(rows, seed, min_count, fill):
    lab = tl.open(":memory:")
    shuffled = list(rows)
    seed.shuffle(shuffled)
    lab.ingest(frame(shuffled), tz="UTC")
    release = lab.release(index="h3:8", slot="2h", fill=fill, min_count=min_count)
    positions = lab.sql("select person, slot, cell from slots.position")
    assert_frame_equal(tl.occupancy(positions, min_count=min_count), release.counts, check_dtypes=False)
    assert_frame_equal(tl.flow(positions, min_count=min_count), release.flows, check_dtypes=False)
    other = tl.open(":memory:", threads=1)
    other.ingest(frame(rows), tz="UTC")
    again = other.release(index="h3:8", slot="2h", fill=fill, min_count=min_count)
    assert again.id == release.id
    assert_frame_equal(again.counts, release.counts)
    assert_frame_equal(again.cells, release.cells)
    lab.close()
    other.close()


def test_every_slot_of_a_static_release_has_everybody(town):
    totals = town.sql("select slot, sum(people)::bigint as people from counts.occupancy group by slot order by slot")
    assert totals["people"].to_list() == [6] * 16


def test_flows_leave_where_people_were_and_arrive_where_they_will_be(town):
    wrong = town.sql(
        """
        with leaving as (select slot, origin as cell, sum(people)::bigint as people from counts.flow group by all),
        arriving as (select slot + 1 as slot, destination as cell, sum(people)::bigint as people from counts.flow group by all)
        (select slot, cell, people from leaving except select slot, cell, people from counts.occupancy)
        union all
        (select slot, cell, people from arriving except select slot, cell, people from counts.occupancy)
        """
    )
    assert len(wrong) == 0


def test_linear_fill_walks_in_a_straight_line():
    lab = tl.open(":memory:")
    rows = [
        ("a", 0, 38.70, -9.17),
        ("a", 4 * 60, 38.70, -9.13),
        ("b", 0, 38.74, -9.15),
        ("b", 5 * 60, 38.74, -9.15),
    ]
    lab.ingest(
        pl.DataFrame(
            {
                "uid": [r[0] for r in rows],
                "ts": [MONDAY + dt.timedelta(minutes=r[1]) for r in rows],
                "lat": [r[2] for r in rows],
                "lng": [r[3] for r in rows],
            }
        ),
        tz="UTC",
    )
    lab.release(index="square:100", slot="1h", fill="linear", box=BOX)
    walked = lab.sql(
        "select slot, cell.x, cell.y, position.observed from slots.position join records.person using (person) "
        "join grid.cell using (cell) where uid = 'a' and slot <= 4 order by slot"
    )
    assert walked["observed"].to_list() == [True, False, False, False, True]
    x = walked["x"].to_list()
    for step in (1, 2, 3):
        assert x[step] == pytest.approx(x[0] + step * (x[4] - x[0]) / 4, abs=51)
    stayed = lab.sql(
        "select count(distinct cell) from slots.position join records.person using (person) where uid = 'b'"
    )
    assert stayed.item() == 1
    totals = lab.sql("select distinct people from (select sum(people) as people from counts.occupancy group by slot)")
    assert totals["people"].to_list() == [2]


def test_alignment_lays_each_best_week_onto_one_period_weekday_on_weekday():
    lab = tl.open(":memory:")
    day = dt.timedelta(days=1)
    rows = []
    for n in range(2):  # ana: two records in the first week, but well covered in the third
        rows.append(("ana", MONDAY + n * day + dt.timedelta(hours=9), 0))
    for n in range(14, 21):
        rows.append(("ana", MONDAY + n * day + dt.timedelta(hours=10), n % 3))
    for n in range(7, 14):  # ben: recorded in the second week only
        rows.append(("ben", MONDAY + n * day + dt.timedelta(hours=11), n % 3))
    lab.ingest(
        pl.DataFrame(
            {
                "uid": [r[0] for r in rows],
                "ts": [r[1] for r in rows],
                "lat": [SPOTS[r[2]][0] for r in rows],
                "lng": [SPOTS[r[2]][1] for r in rows],
            }
        ),
        tz="UTC",
    )
    release = lab.release(index="square:200", slot="1h", days=7, align=True, box=BOX)
    assert (release.slots, release.people) == (7 * 24, 2)
    chosen = lab.sql(
        "select uid, first_slot, observed_slots from slots.person join records.person using (person) order by uid"
    )
    assert chosen.rows() == [("ana", 14 * 24, 7), ("ben", 7 * 24, 7)]
    hours = lab.sql(
        "select uid, list_sort(list(slot % 24)) as hours, count(distinct slot // 24) as days "
        "from slots.position join records.person using (person) where observed group by uid order by uid"
    )
    assert hours.rows() == [("ana", [10] * 7, 7), ("ben", [11] * 7, 7)]


def test_coverage_leaves_out_the_thinly_recorded(tiny):
    release = tiny.release(index="square:1000", slot="3h", coverage=0.6, box=TINY_BOX, outside="clamp")
    kept = tiny.sql(
        "select uid from slots.person join records.person using (person) where kept and release_id = $id order by uid",
        id=release.id,
    )
    assert kept["uid"].to_list() == ["ana", "ben", "cleo", "dora", "emil"]
    assert release.people == 5


def test_people_covered_exactly_enough_stay(tiny):
    cleo = tiny.release(index="square:1000", slot="3h", coverage=11 / 16, box=TINY_BOX, outside="clamp")
    assert cleo.people == 5


def test_a_flow_needs_two_slots_right_after_each_other(tiny):
    gaps = tiny.release(index="square:1000", slot="3h", fill="none", box=TINY_BOX, outside="clamp")
    from_fay = tiny.sql(
        "select count(*) from slots.position join records.person using (person) where uid = 'fay' and release_id = $id",
        id=gaps.id,
    )
    moves = gaps.flows["people"].sum()
    assert from_fay.item() == 3
    assert moves == 15 + 15 + (4 + 5) + 15 + 15 + 1  # ana, ben, cleo without her nights, dora, emil, fay from 12 to 13


def test_a_sample_of_people_is_seeded_and_does_not_depend_on_the_others():
    everybody = tl.simulate(people=60, days=1, seed=3)
    some = everybody.filter(pl.col("uid") != everybody["uid"].max())
    kept = []
    for records in (everybody, some):
        lab = tl.open(":memory:")
        lab.ingest(records, tz="Europe/Lisbon")
        release = lab.release(index="h3:7", slot="1h", people=20, seed=5)
        assert release.people == 20
        kept.append(set(lab.sql("select uid from slots.person join records.person using (person) where kept")["uid"]))
    assert len(kept[0] ^ kept[1]) <= 2


def test_the_same_request_is_built_once(tiny):
    first = tiny.release(index="square:1000", slot="3h", box=TINY_BOX, outside="clamp")
    again = tiny.release(index="square:1000", slot="3h", box=TINY_BOX, outside="clamp")
    other = tiny.release(index="square:1000", slot="6h", box=TINY_BOX, outside="clamp")
    assert first.id == again.id != other.id
    assert tiny.sql("select count(*) from counts.release").item() == 2
    assert tiny.sql("select count(distinct index_id) from grid.fix").item() == 1


def test_dropping_what_lies_outside_the_box_loses_only_that(tiny):
    clamped = tiny.release(index="square:1000", slot="3h", box=TINY_BOX, outside="clamp")
    dropped = tiny.release(index="square:1000", slot="3h", box=TINY_BOX, outside="drop")
    n = dict(tiny.sql("select release_id, records from study.release").iter_rows())
    assert n[clamped.id] - n[dropped.id] == 1


@pytest.mark.parametrize("index", ["square:1000", "h3:8", "stations", "stations:3000", "zones", "square:like=h3:8"])
@pytest.mark.parametrize("fill", ["static", "linear", "none"])
def test_every_index_and_fill_can_be_swapped(tiny, index, fill):
    release = tiny.release(index=index, slot="3h", fill=fill)
    assert release.counts["people"].sum() == (96 if fill != "none" else tiny.sql(
        "select count(*) from slots.position where observed and release_id = $id", id=release.id).item())  # fmt: skip
    assert release.cells["x"].is_finite().all()
    assert release.cells["area_km2"].min() > 0


def test_new_records_make_a_new_release(tiny):
    before = tiny.release(index="h3:8", slot="3h")
    tiny.ingest(pl.DataFrame({"uid": ["gus"], "ts": [MONDAY], "lat": [38.72], "lng": [-9.14]}), tz="Europe/Lisbon")
    after = tiny.release(index="h3:8", slot="3h")
    assert (before.people, after.people) == (6, 7)
    assert_frame_equal(tiny.published(before.id).counts, before.counts)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"fill": "magic"}, UnknownNameError, "no fill named 'magic'; there are: linear, none, static"),
        ({"outside": "push"}, UnknownNameError, "there are: clamp, drop"),
        ({"coverage": 1.5}, ReleaseError, "coverage is a share of slots between 0 and 1, not 1.5"),
        ({"coverage": 1.0, "slot": "1min"}, ReleaseError, "nobody has records in at least 100% of the slots"),
        ({"min_count": 0}, ReleaseError, "min_count must be at least 1"),
        ({"people": 0}, ReleaseError, "people must be at least 1"),
        ({"days": 0}, ReleaseError, "days must be at least 1"),
        ({"align": True}, ReleaseError, "align=True needs days="),
        ({"align": True, "days": 30}, SlotError, "the records cover only 2 days"),
        (
            {"start": "2025-01-01"},
            SlotError,
            "start 2025-01-01 is after the last record, which is on 2024-03-05",
        ),
        (
            {"start": "2024-01-01", "days": 7},
            SlotError,
            "ends before the first record, which is on 2024-03-04",
        ),
        ({"start": "tomorrow"}, SlotError, "is not a date like '2013-04-01'"),
        ({"tz": "Atlantis"}, SlotError, "there is no time zone 'Atlantis'"),
        ({"box": (1.0, 2.0, 0.0, 3.0)}, ReleaseError, r"box must be \(west, south, east, north\)"),
        ({"index": "circle:5"}, UnknownNameError, "no spatial index named 'circle'"),
        ({"index": "places"}, SpatialError, "place"),
    ],
)
def test_a_release_that_makes_no_sense_is_refused(tiny, wrong, error, message):
    with pytest.raises(error, match=message):
        tiny.release(**{"index": "square:1000", "slot": "3h", **wrong})
    assert tiny.sql("select (select count(*) from counts.release) + (select count(*) from grid.fix)").item() == 0


def test_an_empty_lab_publishes_nothing():
    with pytest.raises(ReleaseError, match="the lab holds no records: ingest some first"):
        tl.open(":memory:").release(index="h3:8")


def test_records_of_two_zones_need_a_zone():
    lab = tiny_lab()
    lab.ingest(pl.DataFrame({"uid": ["gus"], "ts": [MONDAY], "lat": [38.72], "lng": [-9.14]}), tz="Asia/Tokyo")
    with pytest.raises(SlotError, match=r"2 zones \(Asia/Tokyo, Europe/Lisbon\): say which with tz="):
        lab.release(index="h3:8")
    assert lab.release(index="h3:8", tz="Europe/Lisbon").people == 7


def test_an_unknown_release_is_refused(town):
    with pytest.raises(UnknownNameError, match="no release named 'r0'; there are: r"):
        town.published("r0")


def test_records_file_is_the_story():
    assert (TINY / "records.csv").read_text().count("\n") == 86


def far_trip() -> pl.DataFrame:
    """Three hundred records in town and one far in the north-east."""
    rows = [(f"p{n % 10}", n, SPOTS[n % 3]) for n in range(300)] + [("p0", 300, (60.0, 20.0))]
    return pl.DataFrame(
        {
            "uid": [u for u, _, _ in rows],
            "ts": [MONDAY + dt.timedelta(minutes=m) for _, m, _ in rows],
            "lat": [spot[0] for _, _, spot in rows],
            "lng": [spot[1] for _, _, spot in rows],
        }
    )


@pytest.mark.parametrize("outside", ["drop", "clamp"])
@pytest.mark.parametrize("index", ["square:500", "h3:8"])
def test_a_far_trip_is_left_out_or_moved_to_the_edge_whatever_the_index(index, outside):
    lab = tl.open(":memory:")
    lab.ingest(far_trip(), tz="UTC")
    release = lab.release(index=index, slot="1h", outside=outside)
    assert release.cells["lat"].max() < 39
    assert lab.sql("select outside, records from study.release").row(0) == (1, 301 - (outside == "drop"))


def test_another_box_is_another_release_with_its_own_coordinates():
    first, second = (-9.2, 38.6, -9.1, 38.8), (-9.3, 38.5, -9.0, 38.9)
    one = tl.open(":memory:")
    one.ingest(far_trip(), tz="UTC")
    a, b = (one.release(index="h3:8", slot="1h", box=box) for box in (first, second))
    other = tl.open(":memory:")
    other.ingest(far_trip(), tz="UTC")
    c = other.release(index="h3:8", slot="1h", box=second)
    assert a.id != b.id == c.id
    assert_frame_equal(b.cells, c.cells)


def test_the_published_box_shows_nobodys_coordinates():
    lab = tl.open(":memory:")
    lab.ingest(tl.simulate(people=50, days=2), tz="Europe/Lisbon")
    lab.release(index="square:500")
    box = json.loads(lab.sql("select settings from grid.index").item())["box"]
    exact = lab.sql("select count(*) from records.fix where lng in ($w, $e) or lat in ($s, $n)",
                    w=box[0], s=box[1], e=box[2], n=box[3])  # fmt: skip
    assert exact.item() <= 1  # a coordinate of three decimals may occur by chance
    assert all(round(side, 1) == side for side in box)


def test_alignment_uses_the_last_week_even_when_it_is_cut_short():
    day = dt.timedelta(days=1)
    rows = [("early", MONDAY + n * day) for n in range(14)] + [("late", MONDAY + n * day) for n in range(14, 20)]
    lab = tl.open(":memory:")
    lab.ingest(
        pl.DataFrame({"uid": [u for u, _ in rows], "ts": [t for _, t in rows], "lat": 38.7, "lng": -9.15}), tz="UTC"
    )
    release = lab.release(index="h3:8", slot="1h", days=7, align=True)
    assert release.people == 2
    assert lab.sql("select left_out from study.release").item() == 0


def test_people_outside_the_period_count_as_left_out():
    lab = tl.open(":memory:")
    rows = [("a", MONDAY), ("b", MONDAY + dt.timedelta(days=3))]
    lab.ingest(
        pl.DataFrame({"uid": [u for u, _ in rows], "ts": [t for _, t in rows], "lat": 38.7, "lng": -9.15}), tz="UTC"
    )
    lab.release(index="h3:8", slot="1h", days=1)
    assert lab.sql("select people, left_out from study.release").row(0) == (1, 1)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"min_count": "5"}, ReleaseError, "min_count must be a whole number"),
        ({"people": 1.5}, ReleaseError, "people must be a whole number"),
        ({"days": 10**9}, ReleaseError, "days must be at least 1 and at most 36600"),
        ({"min_count": 10**30}, ReleaseError, "min_count must be a whole number below two billion"),
        ({"slot": "9" * 400 + "min"}, SlotError, "is not understood"),
        ({"box": (1.0, 2.0)}, ReleaseError, "box must be"),
        ({"start": "0001-01-01"}, SlotError, "is not between 1970 and 2100"),
        (
            {"outside": "drop", "box": (10.0, 10.0, 11.0, 11.0)},
            ReleaseError,
            "no record lies in the box 10, 10, 11, 11",
        ),
    ],
)
def test_values_beyond_all_reason_are_refused(tiny, wrong, error, message):
    with pytest.raises(error, match=message):
        tiny.release(**{"index": "h3:8", "slot": "3h", **wrong})


def test_named_places_without_coordinates_need_the_places_index():
    lab = tl.open(":memory:")
    lab.ingest(
        pl.DataFrame({"device": ["a", "a"], "ts": [MONDAY, MONDAY], "building": ["x", "y"]}), kind="wifi", tz="UTC"
    )
    with pytest.raises(
        SpatialError, match="no record has coordinates, so index square:500 cannot place them: use index='places'"
    ):
        lab.release(index="square:500")
    assert lab.release(index="places").people == 1
