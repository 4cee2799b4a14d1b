"""The sub-datasets of dsilva2024, table I, from miniature downloads whose answers are known."""

from __future__ import annotations

import datetime as dt
import json
import math
import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

import trajlab as tl
from trajlab.errors import IngestError, SlotError, SpatialError, UnknownNameError
from trajlab.prepare import geolife, names, open_scratch, prepare, recipe
from trajlab.prepare._extent import corners
from trajlab.prepare.porto import Grid
from trajlab.progress import Progress
from trajlab.spatial._projection import LocalMetres

DATA = Path(os.environ.get("TRAJLAB_DATA", "no data"))
HOME = (39.90, 116.40)
WORK = (39.93, 116.40)  # 3.3 km north
FAR = (39.99, 116.40)  # 10 km north


def at(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)


def track(data: Path, user: str, begins: str, *places: tuple[float, float], every: int = 60) -> None:
    """One .plt file with a point every so many minutes."""
    folder = data / user / "Trajectory"
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["Geolife trajectory", "WGS 84", "Altitude is in Feet", "Reserved 3", "0,2,255,My Track,0,0,2,8421376", "0"]
    for step, (lat, lng) in enumerate(places):
        when = at(begins) + dt.timedelta(minutes=every * step)
        lines.append(f"{lat},{lng},0,492,39744.12,{when:%Y-%m-%d,%H:%M:%S}")
    (folder / f"{at(begins):%Y%m%d%H%M%S}.plt").write_text("\n".join(lines) + "\n")


@pytest.fixture
def beijing(tmp_path) -> Path:
    """Daily Dan is out every day for nine days, weekly Wei on nine Mondays; three others do not count."""
    data = tmp_path / "Data"
    for day in range(1, 10):
        track(data, "dan", f"2008-10-{day:02} 08:00:30", HOME, WORK, WORK)
        track(data, "wei", f"{at('2009-01-05') + dt.timedelta(days=7 * day):%Y-%m-%d} 20:00:00", WORK, HOME)
    track(data, "once", "2008-10-01 08:00:00", *[HOME] * 200)
    track(data, "short", "2008-10-01 08:00:00", HOME, HOME)
    track(data, "short", "2008-10-02 08:00:00", HOME, HOME)
    track(data, "tourist", "2008-10-01 08:00:00", (31.2, 121.4))
    return data


GEOLIFE = replace(recipe("geolife-37"), interval=3600, months=3, percentiles=(0.0, 1.0))


def test_the_five_sub_datasets_of_table_1_have_a_recipe():
    assert names() == ("geolife-37", "geolife-38", "geolife-43", "porto-3x3", "porto-7x7")
    with pytest.raises(UnknownNameError, match="no sub-dataset named 'geolife-99'; there are: geolife-37, geolife-38"):
        prepare(tl.open(":memory:"), "geolife-99", "Data")


def test_a_preparation_that_stopped_before_its_release_goes_on_when_asked_again(beijing, monkeypatch):
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    lab = tl.open(":memory:")
    monkeypatch.setattr(type(lab), "release", stop)
    with pytest.raises(KeyboardInterrupt):
        prepare(lab, GEOLIFE, beijing)
    monkeypatch.undo()
    other = tl.open(":memory:")
    assert prepare(lab, GEOLIFE, beijing).release.id == prepare(other, GEOLIFE, beijing).release.id
    assert lab.table("records.fix").equals(other.table("records.fix"))
    track(beijing, "dan", "2008-11-01 08:00:30", HOME, WORK, WORK)  # another download is another sub-dataset
    with pytest.raises(IngestError, match="the lab already holds records"):
        prepare(lab, GEOLIFE, beijing)


def test_people_of_different_years_start_together(beijing):
    lab = tl.open(":memory:")
    done = prepare(lab, GEOLIFE, beijing)
    # Dan's nine days end after 8 × 24 + 2 hours, Wei's Mondays, now 24 or 25 hours apart, after 200.
    assert done.steps[-1] == "the first of them ends after 195 slots; a release has whole days, 8 of them"
    assert done.release.people == 2
    assert done.release.slots == 8 * 24
    assert done.release.start == dt.datetime(2000, 1, 1)
    first = lab.sql("select uid, lat, ts from records.fix join records.person using (person) order by ts, uid").row(0)
    assert first == ("dan", HOME[0], at("2000-01-01 00:00"))
    assert lab.sql("select name from records.source").item() == "geolife-changed.parquet"


def test_every_step_says_what_it_left(beijing):
    done = prepare(tl.open(":memory:"), replace(GEOLIFE, months=2), beijing)
    assert done.steps[:6] == [
        "22 trajectories read, 249 points of 4 users are within 0.45 degrees of Beijing",
        "49 points of 3 users are of users with more than one trajectory",
        "45 points of 3 users are in the 2 busiest months of each user",
        "45 positions are left with one per trajectory and 3600 s",
        "18 trajectories, shifted towards each other and merged, became 3",
        "1 users have one longer than 7 days",  # Wei's Mondays of two months do not make a week
    ]
    text = str(done)
    assert (
        f"geolife-changed: release {done.release.id}\n              here  table I\n  people         1       37" in text
    )


def test_reading_a_download_is_a_step_that_shows_how_far_it_is(porto, monkeypatch):
    steps, step = [], Progress.step
    monkeypatch.setattr(
        Progress, "step", lambda self, label, poll=None, **how: steps.append((label, poll)) or step(self, label, poll)
    )
    prepare(tl.open(":memory:"), "porto-7x7", porto)
    label, poll = steps[0]
    assert label == "reading train.csv for porto-7x7"
    assert poll is not None


def test_a_month_counts_by_the_time_under_way():
    seen = pl.DataFrame(
        {
            "uid": ["a"] * 4,
            "track": ["1", "2", "3", "4"],
            "first": [at("2008-01-31 23:00"), at("2008-02-01 00:00"), at("2008-02-09 00:00"), at("2008-03-01 00:00")],
            "last": [at("2008-02-01 09:00"), at("2008-02-01 04:00"), at("2008-02-09 05:00"), at("2008-03-01 09:00")],
        }
    )
    months = lambda k: geolife.busiest_months(seen, k)["month"].dt.month().to_list()  # noqa: E731
    assert months(1) == [1]
    assert months(2) == [1, 2]  # 9 hours as March: the earlier wins
    assert months(9) == [1, 2, 3]


steps = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 5), st.integers(0, 40).map(lambda n: 10 * n), st.integers(0, 20)),
    min_size=1,
    max_size=40,
)


def as_positions(rows: list[tuple[int, int, int, int]]) -> pl.DataFrame:
    """Tracks that follow or overlap each other by tens of slots, so that limits are met exactly."""
    rows = sorted({(uid, track, 350 * track + slot): x for uid, track, slot, x in rows}.items())
    columns = list(zip(*(key for key, _ in rows), strict=True))
    x = np.array([x for _, x in rows], dtype=float)
    return pl.DataFrame(
        {"uid": [f"u{u}" for u in columns[0]], "track": [f"t{t}" for t in columns[1]], "slot": columns[2], "x": x}
    ).with_columns(y=pl.lit(0.0), lat=pl.col("x"), lng=pl.lit(0.0))


def slowly(rows: pl.DataFrame, *, pause: int, day: int, within: int, near: float, longer_than: int) -> set[tuple]:
    """What docs/prepare.md says of shifting, merging, choosing and cutting, one row after another."""
    kept: dict[str, dict[int, float]] = {}
    for (uid,), mine in rows.partition_by("uid", as_dict=True).items():
        late_so_far, ended, points = 0, None, []
        for (name,), piece in sorted(mine.partition_by("track", as_dict=True).items()):
            begins, ends = piece["slot"].min(), piece["slot"].max()
            late = 0 if ended is None else max(0, begins - ended - pause)
            back = math.ceil(late / day) * day + late_so_far if late else 0
            late_so_far, ended = late_so_far + late, ends
            points += [(slot - back, name, x) for slot, x in piece.select("slot", "x").rows()]
        label, before, merged = None, None, {}
        for slot, name, x in sorted(points, key=lambda point: point[:2]):
            if before is None or slot - before[0] > within or abs(x - before[1]) > near:
                label = name
            before = (slot, x)
            merged.setdefault(label, []).append((slot, x))
        long = {name: part for name, part in merged.items() if part[-1][0] - part[0][0] > longer_than}
        if long:
            best = min(long, key=lambda name: (long[name][0][0] - long[name][-1][0], name))
            kept[uid] = {}
            for slot, x in long[best]:
                kept[uid].setdefault(slot - long[best][0][0], x)
    end = min((max(slots) for slots in kept.values()), default=0)
    return {(uid, slot, x) for uid, slots in kept.items() for slot, x in slots.items() if slot <= end}


@examples(few=50, many=300)
@given(rows=steps, pause=st.integers(0, 12), day=st.integers(1, 60), near=st.integers(0, 20))
def test_merging_does_what_the_page_says(rows, pause, day, near):
    positions, pause = as_positions(rows), 10 * pause
    moved = geolife.shift_tracks(positions, pause=pause, day=day)
    fast = geolife.cut_to_shortest(geolife.align_longest(geolife.merge_tracks(moved, 150, near), 100))
    slow = slowly(positions, pause=pause, day=day, within=150, near=near, longer_than=100)
    assert set(fast.select("uid", "slot", "lat").rows()) == slow
    assert len(fast) == len(slow)


def test_a_trajectory_of_just_a_week_is_too_short():
    positions = as_positions([(0, 0, 0, 0), (0, 0, 100, 0), (1, 0, 0, 0), (1, 0, 110, 0)])
    assert geolife.align_longest(positions, 100)["uid"].unique().to_list() == ["u1"]


def test_a_trajectory_close_behind_a_shifted_one_stays_where_it_was():
    positions = as_positions([(0, 0, 0, 0), (0, 1, 0, 0), (0, 2, -340, 0)])
    moved = geolife.shift_tracks(positions, pause=100, day=24)
    assert moved["slot"].to_list() == [0, 350 - 264, 360]  # 250 too late: 11 days of 24


def nearest(slots: list[int], values: list[float]) -> list[float]:
    """One value per slot from the first to the last, each that of the nearest position; the earlier of two as near.

    Slots with several positions keep all of them.
    """
    known = set(slots)
    filled = list(values)
    for slot in range(slots[0], slots[-1] + 1):
        if slot not in known:
            before = max(i for i, at in enumerate(slots) if at < slot)
            after = min(i for i, at in enumerate(slots) if at > slot)
            filled.append(values[before if slot - slots[before] <= slots[after] - slot else after])
    return filled


@examples(few=33, many=200)
@given(rows=steps, low=st.floats(0, 0.5), high=st.floats(0.5, 1))
def test_a_position_counts_in_the_box_in_every_slot_that_is_nearest_to_it(rows, low, high):
    longest = as_positions(rows).select(
        "uid", pl.col("slot") // 7, "lat", "lng"
    )  # several in a slot, gaps odd and even
    longest = longest.sort("uid", "slot", maintain_order=True)
    filled = [
        value
        for mine in longest.partition_by("uid")
        for value in nearest(mine["slot"].to_list(), mine["lat"].to_list())
    ]
    (west, south), (east, north) = corners(longest, (low, high))
    assert [south, north] == pytest.approx(np.quantile(filled, [low, high]).tolist())
    assert (west, east) == (0.0, 0.0)


def test_where_people_go_after_the_cut_counts_in_the_box(tmp_path):
    """Lin goes on for a fortnight after everybody else has ended, all of it in the north."""
    for day in range(1, 10):
        track(tmp_path, "dan", f"2008-10-{day:02} 08:00:00", HOME, HOME)
        track(tmp_path, "lin", f"2008-10-{day:02} 08:00:00", HOME, HOME)
    for day in range(10, 24):
        track(tmp_path, "lin", f"2008-10-{day:02} 08:00:00", WORK, WORK)
    lab = tl.open(":memory:")
    done = prepare(lab, replace(GEOLIFE, percentiles=(0.05, 0.95)), tmp_path)
    assert done.steps[-2] == "their positions from 5 to 95 % span 0 by 3,340 m"  # 0.03 degrees
    assert lab.sql("select max(lat) from records.fix").item() == HOME[0]
    assert json.loads(lab.sql("select settings from study.release").item())["box"] == [116.4, 39.9, 116.401, 39.931]


@pytest.mark.parametrize("dataset", names())
def test_points_beyond_the_box_go_to_its_edge_whatever_the_default(dataset, beijing, porto):
    """As in the paper: nobody is lost, and the true place holds in at least one direction."""
    download = beijing if dataset.startswith("geolife") else porto
    drawn = recipe(dataset).follow(open_scratch().con, download)
    assert drawn.release["outside"] == "clamp"
    assert "box" in drawn.release


def points_of(data: Path) -> list[tuple[str, str, dt.datetime, float, float]]:
    rows = []
    for file in sorted(data.glob("*/Trajectory/*.plt")):
        for line in file.read_text().splitlines()[6:]:
            lat, lng, _, _, _, day, clock = line.split(",")
            rows.append((file.parent.parent.name, file.stem, at(f"{day} {clock}"), float(lat), float(lng)))
    return rows


def all_steps_slowly(data: Path, asked: geolife.GeoLife) -> tuple[dict, tuple[float, ...], int]:
    """Steps 1 to 11 of the page, point after point: everybody's place in every slot, the box, and where all end."""
    metres = LocalMetres(*asked.centre)
    seconds, (lng0, lat0) = asked.interval, asked.centre
    near = [row for row in points_of(data) if math.hypot(row[4] - lng0, row[3] - lat0) < asked.reach_degrees]
    longest = {}
    for uid in sorted({row[0] for row in near}):
        mine = [row for row in near if row[0] == uid]
        names = sorted({row[1] for row in mine})
        if len(names) == 1:
            continue
        under_way: dict[tuple[int, int], dt.timedelta] = {}
        for name in names:
            times = [row[2] for row in mine if row[1] == name]
            month = (min(times).year, min(times).month)
            under_way[month] = under_way.get(month, dt.timedelta()) + max(times) - min(times)
        busiest = sorted(under_way, key=lambda month: (-under_way[month], month))[: asked.months]
        sampled: dict[tuple[str, int], tuple[float, float]] = {}
        for _, name, when, lat, lng in sorted(mine, key=lambda row: (row[1], row[2])):
            if (when.year, when.month) in busiest:
                sampled.setdefault((name, int(when.timestamp()) // seconds), (lat, lng))
        points, late_so_far, ended = [], 0, None
        for name in names:
            slots = [slot for track, slot in sampled if track == name]
            if not slots:
                continue
            late = 0 if ended is None else max(0, min(slots) - ended - asked.pause // seconds)
            back = math.ceil(late * seconds / 86_400) * 86_400 // seconds + late_so_far if late else 0
            late_so_far, ended = late_so_far + late, max(slots)
            points += [(slot - back, name, sampled[name, slot]) for slot in slots]
        pieces, before, label = {}, None, None
        for slot, name, (lat, lng) in sorted(points, key=lambda point: point[:2]):
            x, y = (float(axis[0]) for axis in metres.forward(np.array([lng]), np.array([lat])))
            far = before and (
                (slot - before[0]) * seconds > asked.merge_within
                or math.hypot(x - before[1], y - before[2]) > asked.merge_near
            )
            label = name if before is None or far else label
            before = (slot, x, y)
            pieces.setdefault(label, []).append((slot, lat, lng))
        length = {name: piece[-1][0] - piece[0][0] for name, piece in pieces.items()}
        if not length or max(length.values()) * seconds <= asked.longer_than:
            continue
        best = min(length, key=lambda name: (-length[name], name))
        longest[uid] = [(slot - pieces[best][0][0], lat, lng) for slot, lat, lng in pieces[best]]
    sides = []
    for column in (2, 1):
        filled = [
            value
            for piece in longest.values()
            for value in nearest([point[0] for point in piece], [point[column] for point in piece])
        ]
        low, high = np.quantile(filled, asked.percentiles)
        sides.append((math.floor(low * 1000) / 1000, (math.floor(high * 1000) + 1) / 1000))
    end = min(piece[-1][0] for piece in longest.values())
    there = {}
    for uid, piece in longest.items():
        for slot in range(end + 1):
            last = max(point[0] for point in piece if point[0] <= slot)
            there[uid, slot] = next(point[1:] for point in piece if point[0] == last)
    return there, (sides[0][0], sides[1][0], sides[0][1], sides[1][1]), end + 1


@pytest.mark.parametrize("seed", range(8))
def test_all_steps_from_files_to_positions_are_those_of_the_page(tmp_path, seed):
    """Random downloads: people of several months, far points, pauses around the limits, tracks that overlap."""
    rng = np.random.default_rng(seed)
    for person in range(6):
        when = at("2008-01-20") + dt.timedelta(hours=int(rng.integers(0, 500)))
        home = np.array(HOME) + rng.normal(0, 0.02, 2)
        for _ in range(int(rng.integers(1, 40))):
            places = [tuple(place) for place in np.round(home + rng.normal(0, 0.015, (int(rng.integers(1, 9)), 2)), 6)]
            if rng.random() < 0.1:
                places[-1] = (39.9, 117.5) if rng.random() < 0.5 else (39.7, 116.4)
            track(tmp_path, f"{person:03}", f"{when:%Y-%m-%d %H:%M:%S}", *places, every=int(rng.choice([7, 40, 65])))
            when += dt.timedelta(
                hours=float(rng.choice([0.5, 9, 22, 25, 30, 36, 60])), seconds=int(rng.integers(0, 900))
            )
    asked = replace(GEOLIFE, interval=1800, months=2, percentiles=(0.1, 0.9), longer_than=3 * 86_400)
    there, box, end = all_steps_slowly(tmp_path, asked)
    draft = asked.follow(open_scratch().con, tmp_path)
    assert draft.steps[-1].startswith(f"the first of them ends after {end:,} slots")
    assert draft.release["box"] == pytest.approx(box)
    known: dict[str, dict[int, tuple[float, float]]] = {}
    for uid, when, lat, lng in draft.records.rows():
        known.setdefault(uid, {})[int((when - at("2000-01-01")).total_seconds()) // 1800] = (lat, lng)
    assert set(known) == {uid for uid, _ in there}
    for uid, slot in there:
        last = max(known_slot for known_slot in known[uid] if known_slot <= slot)
        assert known[uid][last] == there[uid, slot]


def test_geolife_refuses_what_it_cannot_use(tmp_path, beijing):
    lab = tl.open(":memory:")
    for download, why in (
        (tmp_path / "nothing", "nothing: not a folder; give GeoLife's Data, with <user>/Trajectory/*.plt"),
        (beijing / "once", "every user has a single trajectory near Beijing; nothing can be merged"),
        (
            beijing / "short",
            "no merged trajectory is longer than 7 days, the longest has 1.0: is the download complete?",
        ),
        (beijing / "tourist", "tourist: no point lies near Beijing; is this GeoLife?"),
    ):
        with pytest.raises(IngestError, match=re.escape(why)):
            prepare(lab, GEOLIFE, download)
    (tmp_path / "empty").mkdir()
    with pytest.raises(IngestError, match="folder 'empty' holds no data: expected files ending in .plt"):
        prepare(lab, GEOLIFE, tmp_path / "empty")
    (tmp_path / "empty" / "a.plt").write_text("x")
    with pytest.raises(IngestError, match="a.plt: not inside a folder <user>/Trajectory; whose points are these?"):
        prepare(lab, GEOLIFE, tmp_path / "empty")
    assert lab.sql("select count(*) from records.source").item() == 0


def trip(taxi: int, begins: str, cells: list[int], *, missing: bool = False, points: str | None = None) -> str:
    """A row of train.csv; its points lie in the middle of cells of the 7×7 grid."""
    grid = recipe("porto-7x7").grid
    lng, lat = grid.degrees(*grid.centres()[cells].T)
    polyline = points or json.dumps([[round(x, 6), round(y, 6)] for x, y in zip(lng, lat, strict=True)])
    stamp = int(at(begins).timestamp())
    return f'"{stamp}{taxi}","C","","","{taxi}","{stamp}","A","{missing}","{polyline}"'


HEAD = '"TRIP_ID","CALL_TYPE","ORIGIN_CALL","ORIGIN_STAND","TAXI_ID","TIMESTAMP","DAY_TYPE","MISSING_DATA","POLYLINE"'


@pytest.fixture
def porto(tmp_path) -> Path:
    rows = [
        HEAD,
        trip(1, "2014-04-30 23:59:50", [0] * 9),  # begins in April: not in May's days either
        trip(1, "2014-05-01 00:05:00", [10] * 30),  # 7 minutes: into the second slot
        trip(1, "2014-05-07 12:00:00", [48]),
        trip(1, "2014-05-31 12:00:00", [0]),  # after thirty days
        trip(2, "2014-05-01 08:00:00", [24]),
        trip(2, "2014-05-01 08:00:00", [0]),  # a twin: the first counts
        trip(2, "2014-05-02 08:00:00", [25, 0]),
        trip(2, "2014-05-08 08:00:00", [], points="[[-8.6,"),
        trip(3, "2014-05-06 00:00:00", [3]),
        trip(3, "2014-05-06 01:00:00", [3], missing=True),
        trip(3, "2014-05-06 02:00:00", [], points="[]"),
        trip(4, "2014-06-01 00:00:00", [4]),
    ]
    file = tmp_path / "train.csv"
    file.write_text("\n".join(rows) + "\n")
    return file


def test_busy_taxis_are_counted_on_the_published_grid(porto):
    lab = tl.open(":memory:")
    done = prepare(lab, "porto-7x7", porto)
    assert done.steps == [
        "12 trips read, 9 have all their points and no twin at the same second",
        "the month with most trips is 2014-05, with 7 of them",
        "3 taxis made 2.3 trips on average in that month, 2 made more",
        "5 positions are left with one per taxi and 600 s",
    ]
    assert (done.release.people, done.release.slots, done.release.start) == (2, 4320, dt.datetime(2014, 5, 1))
    cell = dict(done.release.cells.select("label", "cell").rows())
    assert cell == {label: int(label) for label in ("10", "24", "25", "48")}
    noon = 6 * 144 + 72
    there = done.release.matrix()[[0, 1, noon - 1, noon, 4319]] @ np.array([10, 24, 25, 48])
    assert there.tolist() == [34, 34, 35, 73, 73]  # 10+24, then 10+25, then 48+25
    assert done.size == type(done.published)(2, 4, 4320)


def test_a_taxi_is_where_its_earliest_point_of_the_slot_is(tmp_path):
    """Against a loop over every point of trips that overlap, last up to an hour, and leave the month."""
    rng = np.random.default_rng(0)
    month = int(at("2014-05-01").timestamp())
    rows, earliest = [HEAD, trip(9, "2014-05-09 00:00:00", [0])], {}
    for begins in sorted(set((month + rng.integers(0, 40_000, 60)).tolist()) | {month + 30 * 86_400 - 30}):
        points = rng.integers(0, 1000, (int(rng.integers(1, 240)), 2)) / 1e4 + (-8.6, 41.1)
        text = json.dumps([[round(x, 4), round(y, 4)] for x, y in points.tolist()])
        rows.append(trip(1, str(dt.datetime.fromtimestamp(begins, dt.UTC).replace(tzinfo=None)), [], points=text))
        for step, (lng, lat) in enumerate(json.loads(text)):
            slot, when = (begins + 15 * step - month) // 600, begins + 15 * step
            if slot < 30 * 144:
                earliest[slot] = min(earliest.get(slot, (when, lat, lng)), (when, lat, lng))
    (tmp_path / "train.csv").write_text("\n".join(rows) + "\n")
    lab = tl.open(":memory:")
    prepare(lab, "porto-7x7", tmp_path)
    found = lab.sql("select epoch(ts)::bigint as ts, lat, lng from records.fix order by ts").rows()
    assert found == [earliest[slot] for slot in sorted(earliest)]


def test_the_busy_week_may_decide(porto):
    by_week = replace(recipe("porto-3x3"), busy="week")
    with pytest.raises(IngestError, match="all 3 taxis made 1 trips in the densest week"):  # 5 to 11 May
        prepare(tl.open(":memory:"), by_week, porto)
    porto.write_text(porto.read_text() + trip(3, "2014-05-11 23:59:59", [24]) + "\n")
    assert prepare(tl.open(":memory:"), by_week, porto.parent).steps[2].endswith("that week, 1 made more")
    porto.write_text("\n".join([HEAD, trip(1, "2014-05-01 00:00:00", [0])]) + "\n")
    with pytest.raises(IngestError, match="no trip begins in a whole week of 2014-05: choose the busy taxis by month"):
        prepare(tl.open(":memory:"), by_week, porto)


def test_the_taxi_with_as_many_trips_as_the_mean_is_not_busy(tmp_path):
    file = tmp_path / "train.csv"
    file.write_text("\n".join([HEAD, trip(1, "2014-05-01 00:00:00", [0]), trip(2, "2014-05-01 00:00:00", [0])]) + "\n")
    why = "train.csv: all 2 taxis made 1 trips in the densest month, so none is above the mean"
    with pytest.raises(IngestError, match=why):
        prepare(tl.open(":memory:"), "porto-7x7", file)


def test_porto_refuses_what_it_cannot_use(tmp_path, porto):
    lab = tl.open(":memory:")
    other = tmp_path / "other" / "test.csv"
    other.parent.mkdir()
    other.write_text("TAXI_ID,TIMESTAMP,MISSING_DATA\n1,2,False\n")
    with pytest.raises(IngestError, match="test.csv: not Porto's train.csv, it has no column POLYLINE"):
        prepare(lab, "porto-7x7", other)
    with pytest.raises(IngestError, match="holds 2 files; give train.csv itself"):
        prepare(lab, "porto-7x7", tmp_path)
    other.write_text("\n".join([HEAD, trip(1, "2014-05-01 00:00:00", [0], missing=True)]) + "\n")
    with pytest.raises(IngestError, match="test.csv: none of its 1 trips has all its points"):
        prepare(lab, "porto-7x7", other)
    rows = [trip(taxi, f"2014-05-01 00:0{n}:00", [], points="[[oh]]") for taxi, n in ((1, 1), (1, 2), (2, 3))]
    other.write_text("\n".join([HEAD, *rows]) + "\n")
    with pytest.raises(IngestError, match="test.csv: no polyline of the chosen trips is understood"):
        prepare(lab, "porto-7x7", other)
    with pytest.raises(IngestError, match="there is no file or folder"):
        prepare(lab, "porto-7x7", tmp_path / "absent.csv")
    assert lab.sql("select count(*) from records.source").item() == 0


def test_a_lab_holds_one_sub_dataset(porto):
    lab = tl.open(":memory:")
    prepare(lab, "porto-7x7", porto)
    with pytest.raises(IngestError, match="the lab already holds records, .*: prepare into a new lab"):
        prepare(lab, "porto-3x3", porto)


def test_a_recipe_with_nonsense_cannot_be_built():
    with pytest.raises(SlotError, match="a slot of 7000 s does not divide a day"):
        replace(GEOLIFE, interval=7000)
    with pytest.raises(
        SpatialError, match="percentiles are two shares between 0 and 1, the smaller first, not 99 and 1"
    ):
        replace(GEOLIFE, percentiles=(99, 1))
    with pytest.raises(UnknownNameError, match="no period to be busy in named 'year'; there are: month, week"):
        replace(recipe("porto-7x7"), busy="year")


@pytest.mark.parametrize("dataset", ["porto-3x3", "porto-7x7"])
def test_the_cells_of_the_grid_tile_it(dataset):
    import shapely

    grid: Grid = recipe(dataset).grid
    cells = shapely.polygons(grid.outlines())
    assert shapely.is_valid(cells).all()
    assert shapely.contains_xy(cells, *grid.degrees(*grid.centres().T)).all()
    assert shapely.union_all(cells).area == pytest.approx(cells_area := float(shapely.area(cells).sum()))
    assert cells_area > 0


def test_the_grid_lies_on_porto():
    import shapely

    inside = shapely.contains_xy(shapely.polygons(recipe("porto-7x7").grid.outlines()), -8.6103, 41.1456)
    assert np.flatnonzero(inside).tolist() == [31]  # the railway station of São Bento, in the busiest cell


@pytest.mark.needs_data
@pytest.mark.skipif(not DATA.is_dir(), reason="TRAJLAB_DATA names no folder with the Porto tables")
@pytest.mark.parametrize("shape", ["3x3", "7x7"])
def test_the_grid_is_the_published_one(shape):
    published = pl.read_csv(DATA / f"porto_{shape}_cells.csv").sort("cell")
    assert recipe(f"porto-{shape}").grid.centres().tolist() == published.select("y_km", "x_km").to_numpy().tolist()
