"""Where a study ends: the box that is found, what lies outside it, 0, 0, and what is said of them."""

import datetime as dt
import json

import numpy as np
import polars as pl
import pytest

import trajlab as tl
from trajlab.cli import main
from trajlab.errors import ReleaseError

MONDAY = dt.datetime(2024, 3, 4)
AT_ZERO = "at 0, 0: what receivers without a position write"


def city(people: int = 60, hours: int = 48, seed: int = 0) -> pl.DataFrame:
    """People who go about a city of some 15 km, seen by the hour."""
    rng = np.random.default_rng(seed)
    n = people * hours
    return pl.DataFrame(
        {
            "uid": np.repeat([f"p{number:03}" for number in range(people)], hours),
            "ts": [MONDAY + dt.timedelta(hours=hour) for _ in range(people) for hour in range(hours)],
            "lat": rng.uniform(38.62, 38.78, n),
            "lng": rng.uniform(-9.28, -9.12, n),
        }
    )


def strayed(records: pl.DataFrame, share: float, zeros: int = 0, seed: int = 1) -> pl.DataFrame:
    """The same with a share of positions flung hundreds of kilometres away, and some at 0, 0."""
    rng = np.random.default_rng(seed)
    lat, lng = records["lat"].to_numpy().copy(), records["lng"].to_numpy().copy()
    chosen = rng.permutation(len(records))
    far, zero = chosen[: round(share * len(records))], chosen[len(records) - zeros :]
    lat[far], lng[far] = rng.uniform(30, 50, len(far)), rng.uniform(-20, 5, len(far))
    lat[zero] = lng[zero] = 0.0
    return records.with_columns(lat=pl.Series(lat), lng=pl.Series(lng))


def lab_of(records: pl.DataFrame, tz: str | None = "UTC") -> tl.Lab:
    lab = tl.open(":memory:")
    lab.ingest(records, tz=tz)
    return lab


def box_of(lab: tl.Lab) -> list[float]:
    return json.loads(lab.sql("select settings from grid.index").item())["box"]


def test_far_positions_become_no_cells_and_are_counted_in_the_notes():
    lab = lab_of(strayed(city(), 0.03))
    release = lab.release(index="square:1000", slot="1h")
    assert release.cells["lat"].is_between(38.5, 38.9).all()
    assert release.cells["lng"].is_between(-9.4, -9.0).all()
    beyond = lab.sql(
        "select count(*) from records.fix where lat not between 38.5 and 38.9 or lng not between -9.4 and -9.0"
    ).item()
    assert beyond == round(0.03 * 2880)
    assert lab.sql("select outside, records from study.release").row(0) == (beyond, 2880 - beyond)
    told = f"warning: {beyond} of 2,880 records (2.99%) lie outside the study box and were left out; a box of your own"
    assert release.notes[0].startswith(told)
    assert lab.sql("select subject, round(share, 4) from study.note").rows() == [("outside", round(beyond / 2880, 4))]
    assert lab.published(release.id).notes == release.notes


def test_a_clean_city_loses_no_record_and_has_no_note():
    lab = lab_of(city())
    release = lab.release(index="square:1000", slot="1h")
    assert release.notes == ()
    assert lab.sql("select outside, records from study.release").row(0) == (0, 2880)


def test_few_positions_outside_are_a_note_and_no_warning():
    lab = lab_of(strayed(city(), 0.005))
    (note,) = lab.release(index="square:1000", slot="1h").notes
    assert note == "14 of 2,880 records (0.49%) lie outside the study box and were left out"


def test_people_who_are_never_inside_are_counted_with_what_is_left_out():
    away = city(people=1, hours=20).with_columns(uid=pl.lit("away"), lat=pl.lit(10.0))
    (note,) = lab_of(pl.concat([city(), away])).release(index="h3:7", slot="1h").notes
    assert note == (
        "20 of 2,900 records (0.69%) lie outside the study box and were left out, and with them 1 of 61 people"
    )


def test_clamping_is_a_choice_that_says_what_it_does():
    lab = lab_of(strayed(city(), 0.03))
    release = lab.release(index="square:1000", slot="1h", outside="clamp")
    assert release.notes[0].startswith(
        "warning: 86 of 2,880 records (2.99%) lie outside the study box and were moved to its edge, where nobody was; "
    )
    assert lab.sql("select records from study.release").item() == 2880


def test_what_was_left_out_is_told_by_the_command_and_by_the_report(tmp_path, capsys):
    file, lab_file, page = tmp_path / "in.parquet", str(tmp_path / "lab.duckdb"), tmp_path / "report.html"
    strayed(city(), 0.03).with_columns(pl.col("ts").dt.replace_time_zone("UTC")).write_parquet(file)
    assert main(["ingest", lab_file, str(file)]) == 0
    assert "no zone was given: days and hours are those of UTC" in capsys.readouterr().out
    assert main(["release", lab_file, "--slot", "1h"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[-2].startswith("warning: 86 of 2,880 records (2.99%) lie outside the study box and were left out")
    assert told[-1].startswith("no zone was given: days and hours are those of UTC; say tz=... (--tz)")
    assert main(["report", lab_file, "-o", str(page)]) == 0
    written = page.read_text(encoding="utf-8")
    assert "86 of 2,880 records (2.99%) lie outside the study box and were left out" in written
    assert "no zone was given" in written


@pytest.mark.parametrize("outside", ["drop", "clamp"])
def test_a_box_without_any_record_is_refused_and_leaves_no_release(outside):
    lab = lab_of(city())
    with pytest.raises(ReleaseError) as refused:
        lab.release(index="square:500", slot="1h", box=(38.6, -9.3, 38.8, -9.1), outside=outside)
    assert str(refused.value) == (
        "no record lies in the box 38.6, -9.3, 38.8, -9.1: the records are about -9.4, 38.5, -9, 38.9; "
        "give west, south, east, north in degrees"
    )
    assert lab.sql("select count(*) from grid.index").item() == 0


# The box is published


def settler(lat: float, lng: float, hours: int = 48) -> pl.DataFrame:
    """Somebody who lives alone beyond the edge of the city, and is seen there all the time."""
    return city(people=1, hours=hours).with_columns(uid=pl.lit("x"), lat=pl.lit(lat), lng=pl.lit(lng))


@pytest.mark.parametrize(("lat", "lng"), [(38.7, -9.4123), (38.5512, -9.2), (38.7, -9.0456), (38.9321, -9.2)])
def test_the_box_is_the_same_whether_or_not_somebody_lives_beyond_the_edge(lat, lng):
    """The outermost person has more than one record in a hundred, and would set a percentile of them."""
    others = city(people=30)
    without, with_x = lab_of(others), lab_of(pl.concat([others, settler(lat, lng)]))
    for lab in (without, with_x):
        lab.release(index="square:500", slot="1h", min_count=10)
    assert box_of(without) == box_of(with_x) == [-9.4, 38.5, -9.0, 38.9]
    published = [lab.sql("select name, settings, lon0, lat0 from grid.index").rows() for lab in (without, with_x)]
    assert published[0] == published[1]


def test_wherever_a_crowd_lives_the_box_is_in_whole_tenths_of_a_degree():
    lab = lab_of(tl.simulate(people=50, days=2).with_columns(pl.col("uid").cast(pl.String)), tz="Europe/Lisbon")
    lab.release(index="square:500")
    assert all(round(side, 1) == side for side in box_of(lab))


def test_people_scattered_over_a_country_are_kept_by_larger_tiles():
    rng = np.random.default_rng(3)
    homes = [
        (f"p{n:02}", lat, lng)
        for n, (lat, lng) in enumerate(zip(rng.uniform(40, 50, 30), rng.uniform(0, 10, 30), strict=True))
    ]
    rows = [(uid, MONDAY + dt.timedelta(hours=hour), lat, lng) for uid, lat, lng in homes for hour in range(5)]
    lab = lab_of(pl.DataFrame(rows, schema=["uid", "ts", "lat", "lng"], orient="row"))
    lab.release(index="h3:5", slot="1h")
    assert lab.sql("select records from study.release").item() >= 0.95 * 150


def test_the_box_depends_neither_on_the_order_of_rows_nor_on_their_division_into_sources():
    records = strayed(city(), 0.03)
    halves = records.sample(fraction=1.0, shuffle=True, seed=4)
    one, two = lab_of(records), tl.open(":memory:")
    two.ingest(halves.head(1000), tz="UTC")
    two.ingest(halves.tail(1880), tz="UTC")
    a, b = (lab.release(index="square:1000", slot="1h") for lab in (one, two))
    assert box_of(one) == box_of(two)
    assert a.counts.equals(b.counts)


# 0, 0


def refused(lab: tl.Lab) -> dict[str, int]:
    return dict(lab.sql("select reason, count(*) from records.rejected group by reason").iter_rows())


def test_positions_at_zero_zero_are_refused_with_their_own_reason():
    lab = tl.open(":memory:")
    done = lab.ingest(strayed(city(), 0.0, zeros=25), tz="UTC")
    assert done.rejected == {AT_ZERO: 25} == refused(lab)
    assert (done.rows, done.kept) == (2880, 2855)
    assert not [note for note in done.notes if "0, 0" in note]


def test_zero_zero_is_refused_alike_however_the_rows_are_divided_into_files(tmp_path):
    records = strayed(city(), 0.0, zeros=25)
    alone = records.filter((pl.col("lat") == 0) & (pl.col("lng") == 0))
    others = records.filter(~((pl.col("lat") == 0) & (pl.col("lng") == 0)))
    for number, part in enumerate((alone, others)):
        part.write_parquet(tmp_path / f"{number}.parquet")
    lab = tl.open(":memory:")
    assert lab.ingest(tmp_path, tz="UTC").rejected == {AT_ZERO: 25}


def test_where_the_data_lie_at_zero_zero_they_are_kept_and_a_note_says_so():
    ship = city(people=3).with_columns(lat=pl.col("lat") - 38.7, lng=pl.col("lng") + 9.2)
    lab = tl.open(":memory:")
    done = lab.ingest(strayed(ship, 0.0, zeros=5), tz="UTC")
    assert done.rejected == {}
    assert "5 rows lie exactly at 0, 0 and were kept: 100.0% of the others are within a degree of it" in done.notes


def test_a_stray_position_near_zero_zero_makes_it_no_place():
    records = strayed(city(), 0.0, zeros=25)
    near = city(people=1, hours=3).with_columns(lat=pl.lit(0.001), lng=pl.lit(0.001), uid=pl.lit("p000"))
    assert refused(lab_of(pl.concat([records, near]))) == {AT_ZERO: 25}


# What else is said


def test_a_sample_larger_than_the_people_there_are_is_refused_with_both_numbers():
    lab = lab_of(city(people=16))
    with pytest.raises(ReleaseError) as refused:
        lab.release(index="square:1000", slot="1h", people=5000)
    assert str(refused.value) == (
        "people=5,000 were asked for, and only 16 are covered in this period, study box and slot: ask for fewer, or "
        "lower coverage"
    )
    assert lab.sql("select count(*) from counts.release").item() == 0
    assert lab.release(index="square:1000", slot="1h", people=16).people == 16


def test_hours_of_utc_by_default_are_noted_at_ingestion_and_at_every_release():
    lab = tl.open(":memory:")
    done = lab.ingest(city().with_columns(pl.col("ts").dt.replace_time_zone("UTC")))
    note = (
        "no zone was given: days and hours are those of UTC; say tz=... (--tz), such as Europe/Lisbon, for local ones"
    )
    assert note in done.notes
    assert lab.release(index="square:1000", slot="1h").notes == (note,)
    assert lab.release(index="square:1000", slot="1h", tz="UTC").notes == ()


def test_mostly_filled_positions_are_noted_with_their_share():
    lab = lab_of(city(people=20, hours=48).filter(pl.col("ts").dt.hour().is_in([3, 15])))
    (note,) = lab.release(index="square:1000", slot="1h").notes
    assert note == (
        "91.7% of the positions behind the counts are filled in, not recorded: longer slots, coverage=... (--coverage) "
        "or fill='none' rest on more records"
    )
    assert lab.release(index="square:1000", slot="12h").notes == ()


# Lists of releases


def test_releases_that_differ_are_told_apart_wherever_they_are_listed(tmp_path, capsys):
    lab_file, page = str(tmp_path / "lab.duckdb"), tmp_path / "report.html"
    with tl.open(lab_file) as lab:
        lab.ingest(city(people=30), tz="UTC")
        for more in (
            {},
            {"people": 10},
            {"people": 10, "seed": 1},
            {"min_count": 3},
            {"outside": "clamp"},
            {"tz": "Asia/Tokyo"},
        ):
            lab.release(index="square:2000", slot="1h", days=1, start="2024-03-05", **more)
        lab.ingest(city(people=1).with_columns(uid=pl.lit("late")), tz="UTC")
        lab.release(index="square:2000", slot="1h", days=1, start="2024-03-05")
        lab.report(page)
    assert main(["risk", lab_file, "points:2"]) == 2
    listed = capsys.readouterr().err.split("there are: ")[1].strip().split("; ")
    without_ids = [line.split(" (", 1)[1] for line in listed]
    assert len(set(without_ids)) == len(listed) == 7
    for part in (
        "10 people",
        "30 people",
        "31 people",
        "seed 1",
        "counts from 3",
        "outside clamp",
        "hours of Asia/Tokyo",
    ):
        assert sum(part in line for line in without_ids) >= 1, part
    assert "records of 2 sources" in " ".join(without_ids)
    from trajlab.report.contents import Contents

    with tl.open(lab_file, read_only=True) as lab:
        names = [release.name for release in Contents.of(lab).releases]
    assert len(set(names)) == 7
    assert not [name for name in names if "(r" in name]
