"""Laws of the simulated city: reproducible for each person, and human enough to test attacks on."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from trajlab.errors import SimulationError
from trajlab.simulation import simulate, simulate_batches, simulate_campus, simulate_stations, write

MODES = ["gps", "cdr", "campus"]
LISBON = "Europe/Lisbon"


@pytest.fixture(scope="module")
def week() -> pl.DataFrame:
    return in_metres(simulate(people=400, days=7, seed=3))


@pytest.fixture(scope="module")
def campus():
    return simulate_campus(people=150, days=28, seed=5)


def in_metres(frame: pl.DataFrame) -> pl.DataFrame:
    """Adds x and y around the default centre, the local clock, and 500 m cells."""
    local = pl.col("ts").dt.convert_time_zone(LISBON)
    return frame.with_columns(
        x=(pl.col("lng") + 9.1393) * 111_320 * np.cos(np.radians(38.7223)),
        y=(pl.col("lat") - 38.7223) * 111_320,
        weekday=local.dt.weekday(),
        hour=local.dt.hour() + local.dt.minute() / 60,
    ).with_columns(cell=pl.concat_str(*((pl.col(c) / 500).round().cast(pl.Int64) for c in "xy"), separator=" "))


def from_home(frame: pl.DataFrame) -> pl.DataFrame:
    """Adds `away`, metres from where the person usually is at night."""
    night = frame.filter(pl.col("hour") < 6).group_by("uid").agg(hx=pl.col("x").median(), hy=pl.col("y").median())
    return frame.join(night, on="uid").with_columns(
        away=((pl.col("x") - pl.col("hx")) ** 2 + (pl.col("y") - pl.col("hy")) ** 2).sqrt()
    )


# Reproducible


@pytest.mark.parametrize("mode", MODES)
def test_same_seed_same_records(mode):
    assert_frame_equal(simulate(20, 2, seed=7, mode=mode), simulate(20, 2, seed=7, mode=mode))


@pytest.mark.parametrize("mode", MODES)
def test_another_seed_is_another_city(mode):
    once, other = (simulate(20, 2, seed=seed, mode=mode).select("ts", "lat", "lng") for seed in (1, 2))
    assert not once.equals(other)
    assert once.join(other, on=["lat", "lng"], how="semi").is_empty()


@pytest.mark.parametrize("mode", MODES)
def test_a_person_does_not_depend_on_how_many_others_there_are(mode):
    few, many = (simulate(people, 3, seed=1, mode=mode) for people in (50, 200))
    assert_frame_equal(few, many.filter(pl.col("uid") < "p0000050"))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("block", [1, 17, 60])
def test_blocks_change_where_frames_end_and_nothing_else(mode, block):
    frames = list(simulate_batches(60, 2, seed=1, mode=mode, block=block))
    assert len(frames) == -(-60 // block)
    assert_frame_equal(pl.concat(frames), simulate(60, 2, seed=1, mode=mode))


def test_more_days_continue_the_same_lives():
    short, long = (simulate(40, days, seed=1) for days in (3, 7))
    assert_frame_equal(short, long.filter(pl.col("ts") <= short["ts"].max()))


def test_a_coarser_interval_gives_rows_of_the_finer_one():
    hourly, fine = simulate(20, 2, interval="1h"), simulate(20, 2, interval="10min")
    assert_frame_equal(hourly, fine.filter(pl.col("ts").dt.minute() == 0))


# Shape


@pytest.mark.parametrize(("interval", "slots"), [("30min", 48), ("1h", 24), (dt.timedelta(minutes=5), 288)])
def test_gps_has_one_row_per_person_and_tick(interval, slots):
    frame = simulate(11, 3, interval=interval)
    assert frame.schema == {
        "uid": pl.String,
        "ts": pl.Datetime("us", "UTC"),
        "lat": pl.Float64,
        "lng": pl.Float64,
    }
    assert frame.height == 11 * 3 * slots
    assert frame.select("uid", "ts").is_unique().all()
    assert frame.equals(frame.sort("uid", "ts"))


def test_the_package_and_its_main_function_share_a_name_in_peace():
    code = """
import trajlab as tl
import trajlab.simulation
from trajlab.simulation import write
print(tl.simulate(people=2, days=1).height)
"""
    said = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "96\n"


# Human


def test_nights_are_spent_at_home(week):
    night = from_home(week).filter(pl.col("hour") < 6)
    assert 0.92 < (night["away"] < 100).mean() < 0.995  # a few work at night
    last_slot = from_home(week).filter(pl.col("ts") == pl.col("ts").max())
    assert (last_slot["away"] < 100).mean() > 0.85


def test_most_people_work_on_weekdays_and_few_at_weekends(week):
    late_morning = from_home(week).filter(pl.col("hour") == 11)
    away = {day: late_morning.filter(pl.col("weekday") == day)["away"].gt(100).mean() for day in range(1, 8)}
    assert all(0.55 < away[day] < 0.9 for day in range(1, 6))
    assert all(away[day] < 0.5 for day in (6, 7))


def test_two_places_hold_most_records(week):
    visits = week.group_by("uid", "cell").len()
    top = visits.group_by("uid").agg(pl.col("len").top_k(2).sum(), all=pl.col("len").sum())
    assert 0.7 < top["len"].sum() / top["all"].sum() < 0.97
    assert visits.group_by("uid").len()["len"].median() > 5


def test_three_places_single_out_most_people(week):
    top = (
        week.group_by("uid", "cell")
        .len()
        .sort("uid", "len", "cell", descending=[False, True, False])
        .group_by("uid", maintain_order=True)
        .agg(pl.col("cell").head(3).sort().str.join("|"))
    )
    assert top["cell"].is_unique().mean() > 0.7
    homes = week.filter(pl.col("hour") == 3).group_by("uid").agg(pl.col("cell").mode().first())
    assert homes["cell"].is_unique().mean() < 0.5  # while neighbours share a cell


def test_a_person_resembles_himself_more_than_others(week):
    tuesday, wednesday = (
        week.filter(pl.col("weekday") == day).sort("uid", "ts").select("x", "y").to_numpy().reshape(400, 48, 2)
        for day in (2, 3)
    )

    def together(a, b):
        return (np.hypot(*np.moveaxis(a - b, 2, 0)) < 250).mean()

    assert together(tuesday, wednesday) > 0.75
    assert together(tuesday, np.roll(wednesday, 1, axis=0)) < 0.2


def test_people_are_seen_on_the_way_and_nobody_teleports():
    frame = in_metres(simulate(people=80, days=7, interval="2min", seed=2))
    step = frame.with_columns(
        metres=((pl.col("x").diff() ** 2 + pl.col("y").diff() ** 2).sqrt()).over("uid"),
    ).drop_nulls()
    assert step["metres"].max() < 120 * 9  # metres in two minutes at 32 km/h, noise included
    moving = pl.col("metres") > 60
    share = (
        step.filter(pl.col("weekday") < 6).group_by(pl.col("hour").floor()).agg(moving.mean()).sort("hour")["metres"]
    )
    assert 0.05 < share[8] < 0.5
    assert 0.05 < share[17] < 0.5
    assert share[:5].max() < 0.05


def test_new_places_become_rarer_and_never_run_out():
    frame = in_metres(simulate(people=100, days=28, seed=2, interval="10min"))
    begin = frame["ts"].min()
    stands_still = [(pl.col(c).diff().over("uid")).abs() < 40 for c in "xy"]
    block = pl.concat_str(*((pl.col(c) / 200).floor().cast(pl.Int64) for c in "xy"), separator=" ")
    first_visit = (
        frame.filter(*stands_still).group_by("uid", block).agg(week=(pl.col("ts").min() - begin).dt.total_days() // 7)
    )
    found = first_visit.group_by("week").len().sort("week")["len"]
    assert 0.2 < found[3] / found[0] < 0.5


def test_homes_thin_out_and_work_concentrates(week):
    radius = (pl.col("x") ** 2 + pl.col("y") ** 2).sqrt()
    home = week.filter(pl.col("hour") == 3).group_by("uid").agg(radius.median().alias("r"))["r"]
    work = week.filter((pl.col("hour") == 11) & (pl.col("weekday") == 2))["cell"]
    inner, outer = (home < 5_000).sum() / 25, ((home >= 5_000) & (home < 15_000)).sum() / 200
    assert inner > 3 * outer  # people per unit of area
    assert home.max() < 15_100
    busiest = work.value_counts(sort=True)["count"].head(10).sum() / len(work)
    night = week.filter((pl.col("hour") == 3) & (pl.col("weekday") == 2))["cell"]
    assert busiest > 1.3 * night.value_counts(sort=True)["count"].head(10).sum() / len(night)
    at_work = week.filter((pl.col("hour") == 11) & (pl.col("weekday") == 2)).select(r=radius)["r"]
    assert at_work.median() < 0.8 * home.median()


# The clock


@pytest.mark.parametrize(("start", "hours"), [("2024-03-25", 167), ("2024-10-21", 169), ("2024-03-04", 168)])
def test_a_week_with_a_clock_change_is_an_hour_shorter_or_longer(start, hours):
    stamps = simulate(1, 7, start=start)["ts"]
    assert len(stamps) == 2 * hours
    assert (stamps.diff().drop_nulls() == dt.timedelta(minutes=30)).all()
    assert stamps.dt.convert_time_zone(LISBON)[0].isoformat().startswith(f"{start}T00:00")


@pytest.mark.parametrize("start", ["2024-03-25", "2024-10-21"])
def test_people_keep_to_the_clock_on_the_wall_when_it_changes(start):
    frame = from_home(in_metres(simulate(people=300, days=14, seed=4, start=start)))
    begin = frame["ts"].min()
    profile = (
        frame.filter(pl.col("weekday") < 5)
        .group_by("hour", week=(pl.col("ts") - begin) > dt.timedelta(days=7))
        .agg((pl.col("away") > 100).mean())
        .sort("week", "hour")
    )
    before, after = profile["away"].to_numpy().reshape(2, 48)
    assert np.abs(before - after).max() < 0.07


def test_callers_sleep_by_the_local_clock():
    calls = simulate(200, 7, mode="cdr", tz="Asia/Tokyo", seed=1)
    hour = calls["ts"].dt.convert_time_zone("Asia/Tokyo").dt.hour()
    assert (hour < 5).mean() < 0.05
    assert hour.is_between(8, 20).mean() > 0.7


# Call records


def test_calls_are_made_at_the_masts():
    calls = simulate(100, 7, mode="cdr", seed=1, stations=40)
    masts = simulate_stations(100, 7, seed=1, stations=40)
    assert calls.columns == ["uid", "ts", "station", "lat", "lng", "direction", "region"]
    assert masts.height == masts["station"].n_unique() == 40
    assert calls.join(masts, on=["station", "lat", "lng"], how="anti").is_empty()
    assert set(calls["direction"]) == {"in", "out"}
    assert calls.group_by("uid").agg(pl.col("region").n_unique())["region"].max() == 1


def test_a_call_is_taken_by_the_nearest_mast():
    calls = in_metres(simulate(50, 3, mode="cdr", seed=1, stations=60))
    calls = calls.with_columns(at=pl.col("ts").dt.truncate("1m"))
    fixes = in_metres(simulate(50, 3, seed=1, interval="1min")).select("uid", at="ts", px="x", py="y")
    masts = in_metres(simulate_stations(50, 3, seed=1, stations=60).with_columns(ts=calls["ts"][0]))
    met = calls.join(fixes, on=["uid", "at"])
    assert met.height == calls.height
    here = met.select("px", "py").to_numpy()
    nearest = np.hypot(*(here[:, None, :] - masts.select("x", "y").to_numpy()).transpose(2, 0, 1)).min(axis=1)
    used = np.hypot(*(here - met.select("x", "y").to_numpy()).T)
    assert (used - nearest).max() < 1_100  # what a minute of travel and noise can add, twice
    assert np.median(used - nearest) < 1


def test_calls_are_few_bursty_and_unequal():
    calls = simulate(500, 14, mode="cdr", seed=1)
    per_day = calls.group_by("uid").len()["len"] / 14
    assert 2 < per_day.mean() < 15
    assert per_day.quantile(0.9) > 5 * per_day.quantile(0.1)
    gap = calls.select(pl.col("ts").diff().over("uid").dt.total_seconds())["ts"]
    assert gap.min() > 0
    assert gap.median() < gap.mean() / 5


def test_a_silent_person_gives_an_empty_frame_of_the_right_shape():
    frames = list(simulate_batches(60, 1, mode="cdr", block=1))
    assert any(frame.is_empty() for frame in frames)
    assert len({tuple(frame.schema.items()) for frame in frames}) == 1


# Campus


def test_students_are_in_class_when_they_should_be(campus):
    seen = (
        campus.records.with_columns(local=pl.col("ts").dt.convert_time_zone(LISBON))
        .with_columns(
            weekday=pl.col("local").dt.weekday(),
            clock=pl.col("local").dt.time(),
            week=pl.col("local").dt.week(),
        )
        .join(campus.schedule, on=["uid", "weekday"], suffix="_of_class")
        .filter(pl.col("clock").is_between("from", "to", closed="left"))
    )
    weeks = seen.group_by("uid", "weekday", "from", "week").agg(
        there=(pl.col("place") == pl.col("place_of_class")).mean()
    )
    assert 0.7 < (weeks["there"] > 0.5).mean() < 0.95
    assert weeks["there"].is_in([0.0, 1.0]).mean() > 0.95  # a class is attended or missed as a whole
    regular = weeks.group_by("uid").agg((pl.col("there") > 0.5).mean())["there"]
    assert regular.median() > 0.7


def test_nothing_is_taught_on_thursday_afternoon(campus):
    noon, evening = dt.time(12), dt.time(19)
    thursday = campus.schedule.filter(pl.col("weekday") == 4)
    assert thursday.filter(pl.col("from").is_between(noon, evening)).is_empty()
    assert thursday.filter(pl.col("from") == dt.time(19, 20)).height > 0
    assert campus.schedule.filter(pl.col("weekday") == 3, pl.col("from").is_between(noon, evening)).height > 20


def test_the_truth_of_a_campus_fits_together(campus):
    assert campus.records.columns == ["uid", "ts", "place", "lat", "lng"]
    assert campus.places.columns == ["place", "lat", "lng", "kind", "parent"]
    assert campus.schedule.columns == ["uid", "weekday", "from", "to", "place"]
    assert campus.timetable.columns == ["weekday", "from", "to"]
    assert campus.timetable.height == 30
    assert campus.records.join(campus.places, on=["place", "lat", "lng"], how="anti").is_empty()
    assert campus.schedule.join(campus.timetable, on=["weekday", "from", "to"], how="anti").is_empty()
    taught_in = campus.schedule.join(campus.places, on="place", how="left")
    assert set(taught_in["kind"]) == {"classroom"}
    assert 4 < campus.schedule.height / 150 < 9
    assert campus.schedule.select("weekday", "from").n_unique() > 22  # of 27 taught slots, some rarely
    shared = campus.schedule.join(campus.schedule, on=["weekday", "from", "place"])
    pairs = shared.filter(pl.col("uid") < pl.col("uid_right")).group_by("uid", "uid_right").len()
    assert pairs.filter(pl.col("len") >= 4).height > 50  # a cohort goes to class together
    assert_frame_equal(campus.records, simulate(150, 28, seed=5, mode="campus"))


def test_devices_probe_every_five_to_twenty_minutes_unless_off(campus):
    gap = campus.records.select(pl.col("ts").diff().over("uid").dt.total_minutes())["ts"].drop_nulls()
    assert gap.min() >= 5
    assert 0.85 < (gap <= 20).mean() < 0.99


# Files


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_file_holds_the_same_records(tmp_path, suffix, mode):
    path = tmp_path / f"city.{suffix}"
    expected = simulate(30, 2, seed=6, mode=mode)
    assert write(path, 30, 2, seed=6, mode=mode, block=7) == expected.height
    found = pl.read_parquet(path) if suffix == "parquet" else pl.read_csv(path, schema_overrides=expected.schema)
    assert_frame_equal(found, expected)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_write_that_fails_leaves_the_folder_as_it_was(tmp_path, suffix):
    path = tmp_path / f"city.{suffix}"
    path.write_text("what was there before")
    code = f"""
import resource
from trajlab.simulation import write
from trajlab.errors import SimulationError
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    write({str(path)!r}, people=200, days=2, block=10)
except SimulationError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.startswith(f"cannot write 'city.{suffix}': File too large")
    assert path.read_text() == "what was there before"
    assert list(tmp_path.iterdir()) == [path]


# Refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"people": 0}, "people must be a whole number, 1 or more, not 0"),
        ({"people": True}, "people must be a whole number, 1 or more, not True"),
        ({"people": 2.5}, "people must be a whole number, 1 or more, not 2.5"),
        ({"days": 0}, "days must be a whole number, 1 or more, not 0"),
        ({"stations": 0}, "stations must be a whole number, 1 or more, not 0"),
        ({"seed": -1}, "seed must be a whole number, 0 or more, not -1"),
        ({"mode": "taxi"}, "no mode named 'taxi'; there are: gps, cdr, campus"),
        ({"interval": "7min"}, "interval '7min' does not divide a day into equal whole seconds"),
        ({"interval": "0s"}, "interval '0s' does not divide a day into equal whole seconds"),
        (
            {"interval": dt.timedelta(seconds=0.5)},
            "interval '0:00:00.500000' does not divide a day into equal whole seconds",
        ),
        ({"interval": "soon"}, "interval 'soon' is not a time such as '30min', '15s' or '1h'"),
        ({"tz": "Mars/Base"}, "no time zone named 'Mars/Base'; use one like 'Europe/Lisbon' or 'UTC'"),
        ({"tz": "Europe"}, "no time zone named 'Europe'; use one like 'Europe/Lisbon' or 'UTC'"),
        (
            {"start": "4.3.2024"},
            "start '4.3.2024' is not a date; write it as year-month-day, like '2024-03-04'",
        ),
        ({"start": "9999-12-30"}, "7 days from 9999-12-30 run past the calendar"),
        ({"centre": (95.0, 0.0)}, "centre must be (lat, lng) within 80 and 178 degrees, not (95.0, 0.0)"),
        ({"radius_km": 0}, "radius_km must be from 0.5 to 100, not 0"),
        ({"block": 0}, "block must be a whole number, 1 or more, not 0"),
    ],
)
def test_a_city_that_cannot_be_is_refused_at_once(options, message):
    with pytest.raises(SimulationError) as refused:
        simulate_batches(**options)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("city.xlsx", "cannot write 'city.xlsx'; the name must end in .parquet or .csv"),
        ("nowhere/city.csv", "cannot write 'city.csv'; it must be a file in a folder that exists"),
    ],
)
def test_a_file_that_cannot_be_is_refused(tmp_path, name, message):
    with pytest.raises(SimulationError) as refused:
        write(tmp_path / name, people=1, days=1)
    assert str(refused.value) == message
    assert list(tmp_path.iterdir()) == []
