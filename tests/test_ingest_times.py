"""When a record happened: every way of writing a time, and the hours that clocks skip or repeat."""

from __future__ import annotations

import datetime as dt
import random
import re
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from test_ingest import GOOD_ROW, empty_lab, fixes, rejected

import trajlab as tl
from trajlab.errors import IngestError
from trajlab.ingest import ingest

NOON = 1_364_817_600_000_000  # 2013-04-01 12:00 UTC
REASONS = {
    "time missing", "time not understood", "time zone not understood", "time out of range",
    "time too small a number for seconds since 1970", "time looks like a day number of a spreadsheet",
    "local time skipped by the clock change",
    *(f"time looks like a date: {form}" for form in ("yymmdd", "yyyymmdd", "yyyymmddhh", "yyyymmddhhmm", "yyyymmddhhmmss")),
}  # fmt: skip


def read(ts: list, tz: str | None = None) -> tuple[dict[int, int], dict[int, str]]:
    """Instants in microseconds and reasons, by row."""
    con = empty_lab()
    n = len(ts)
    frame = pl.DataFrame({"uid": [f"p{i}" for i in range(n)], "ts": ts, "lat": [1.0] * n, "lng": [2.0] * n})
    ingest(con, frame, tz=tz)
    return {row[0]: row[2] for row in fixes(con)}, dict(rejected(con))


NOON_IN_TEXT = [
    "2013-04-01T12:00:00Z", "2013-04-01T12:00:00z", "2013-04-01 12:00:00+00", "2013-04-01T14:00:00+02:00",
    "2013-04-01 14:00:00 +0200", "2013-04-01T07:00:00.000-05:00", "2013/04/01 12:00:00Z",
    "2013-04-01 12:00:00 UTC", "2013-04-01 13:00:00 Europe/Lisbon", "2013-04-01 08:00:00 America/La_Paz",
    "1364817600", "1364817600.0", "1364817600000", "1364817600000000", "1364817600000000000",
    "  2013-04-01T12:00:00Z ", "2013-04-01 17:00:00 UTC+5", "2013-04-01 09:00:00 GMT-3", "2013-04-01T17:30UTC+05:30",
    "2013-04-01 07:00:00 Etc/GMT+5", "2013-04-01 17:00:00 +5", "2013-04-01 06:30:00 utc -5:30", "2013-04-01 12:00 GMT",
]  # fmt: skip


def test_zones_and_epochs_in_text():
    """All in one column: every row is read by itself."""
    instants, reasons = read(NOON_IN_TEXT)
    assert {written: instants.get(row) for row, written in enumerate(NOON_IN_TEXT, 1)} == dict.fromkeys(
        NOON_IN_TEXT, NOON
    )
    assert reasons == {}


@pytest.mark.parametrize("unit", [1, 10**3, 10**6, 10**9])
@pytest.mark.parametrize("number", [int, float])
def test_epoch_numbers_by_their_size(unit, number):
    assert read([number(NOON // 10**6 * unit)]) == ({1: NOON}, {})


def test_fractions_of_a_second_are_kept():
    assert read(["1364817600.25", "1364817600250", "2013-04-01T12:00:00.25Z"])[0] == dict.fromkeys(
        (1, 2, 3), NOON + 250_000
    )


@pytest.mark.parametrize(
    "written", ["2013-04-01 13:00:00", "2013-04-01T13:00", "2013/4/1 13:00:00", "2013-04-01 13:00:00.0"]
)
def test_naive_text_is_read_in_the_zone_given(written):
    assert read([written], tz="Europe/Lisbon") == ({1: NOON}, {})


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_naive_timestamps_are_read_in_the_zone_given(unit):
    naive = pl.Series([dt.datetime(2013, 4, 1, 13)], dtype=pl.Datetime(unit))
    assert read(naive, tz="Europe/Lisbon") == ({1: NOON}, {})
    with pytest.raises(IngestError, match="times in column 'ts' carry no zone: say which with tz="):
        read(naive)


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_aware_timestamps_are_kept_whatever_the_zone_given(unit):
    aware = pl.Series([dt.datetime(2013, 4, 1, 12)], dtype=pl.Datetime(unit)).dt.replace_time_zone("UTC")
    assert read(aware.dt.convert_time_zone("Asia/Tokyo"), tz="Europe/Lisbon") == ({1: NOON}, {})


@pytest.mark.parametrize("ts", [[1364817600, None], [1364817600.0, float("nan")], ["1364817600", " "],
                                pl.Series([NOON, None]).cast(pl.Datetime("us", "UTC")),
                                pl.Series([NOON, None]).cast(pl.Datetime("us"))])  # fmt: skip
def test_a_missing_time_is_missing_in_every_type(ts):
    assert read(ts, tz="UTC") == ({1: NOON}, {2: "time missing"})


@pytest.mark.parametrize(
    "written",
    [
        "20130401T120000Z",
        "20130401 120000Z",
        "01.04.2013 12:00:00Z",
        "1.4.2013 13:00 +01:00",
        "1.4.2013, 13:00 Europe/Lisbon",
        "20130401T1200Z",
        "20130401T130000+0100",
        "20130401T1300+01",
        "20130401T130000.0 Europe/Lisbon",
    ],
)
def test_compact_times_are_read_as_those_with_dashes_and_colons(written):
    assert read([written]) == ({1: NOON}, {})
    assert read(["20130401T130000", " 20130401T1300 "], tz="Europe/Lisbon")[0] == {1: NOON, 2: NOON}


@pytest.mark.parametrize(
    "written",
    [
        "30.02.2013 12:00Z",
        "4.13.2013 12:00Z",
        "1.4.13 12:00Z",
        "20130230T120000Z",
        "20130401T12Z",
        "20130401T12000Z",
        "20130401T250000Z",
    ],
)
def test_a_compact_time_that_never_was_is_rejected(written):
    assert read(["2013-04-01T12:00:00Z", written])[1] == {2: "time not understood"}


def two_columns(tmp_path, header, *rows, **said):
    file = tmp_path / "apart.csv"
    file.write_text("\n".join([header, *rows, ""]))
    with tl.open(":memory:") as lab:
        done = lab.ingest(file, kind="gps", **said)
        times = lab.sql("select source_row, epoch_us(ts) as ts from records.fix order by source_row")
        reasons = lab.sql("select source_row, reason from records.rejected order by all")
        return dict(times.iter_rows()), dict(reasons.iter_rows()), done.notes


@pytest.mark.parametrize(
    ("date", "clock", "tz"),
    [
        ("2013-04-01", "13:00:00", "Europe/Lisbon"),
        ("2013/4/1", "13:00", "Europe/Lisbon"),
        ("20130401", "12:00:00Z", None),
        ("01.04.2013", "12:00:00Z", None),
        ("2013-04-01 ", " 13:00:00+0100", None),
    ],
)
def test_a_date_and_a_clock_in_two_columns_are_one_time(tmp_path, date, clock, tz):
    times, _, notes = two_columns(tmp_path, "u,date,time,lat,lon", f"ana,{date},{clock},38.7,-9.1", tz=tz)
    assert times == {1: NOON}
    assert "apart.csv: times are 'date' and 'time' together" in notes


def test_dates_and_clocks_of_a_frame_are_joined_too():
    rows = {"user": ["a", "b"], "Date": [dt.date(2013, 4, 1), None], "Time": [dt.time(12), dt.time(13)]}
    with tl.open(":memory:") as lab:
        lab.ingest(pl.DataFrame({**rows, "lat": [38.7, 38.7], "long": [-9.1, -9.1]}), kind="gps", tz="UTC")
        assert lab.sql("select epoch_us(ts) from records.fix").item() == NOON
        assert lab.sql("select reason from records.rejected").item() == "time missing"


def test_a_bad_date_or_clock_costs_its_own_row(tmp_path):
    rows = [f"p{i},2013-04-01,12:00Z,38.7,-9.1" for i in range(3)]
    times, reasons, _ = two_columns(
        tmp_path, "u,date,time,lat,lon", *rows, "a,n/a,12:00Z,38.7,-9.1", "b,2013-04-01,noon,38.7,-9.1"
    )
    assert times == dict.fromkeys((1, 2, 3), NOON)
    assert reasons == dict.fromkeys((4, 5), "time not understood")


def test_a_whole_time_beside_its_date_is_the_time(tmp_path):
    times, _, notes = two_columns(tmp_path, "u,date,time,lat,lon", "a,2013-04-02,2013-04-01T12:00:00Z,38.7,-9.1")
    assert times == {1: NOON}
    assert not any("together" in note for note in notes)


def test_which_column_is_the_time_may_still_be_said_and_is_asked_for_in_doubt(tmp_path):
    row = "a,2013-04-02,11:00Z,2013-04-01T12:00:00Z,38.7,-9.1"
    with pytest.raises(IngestError, match="'time', 'timestamp' could each be 'ts'"):
        two_columns(tmp_path, "u,date,time,timestamp,lat,lon", row)
    times, _, _ = two_columns(tmp_path, "u,date,time,timestamp,lat,lon", row, columns={"ts": "timestamp"})
    assert times == {1: NOON}


def test_x_and_y_are_never_taken_for_degrees(tmp_path):
    """They are metres to some and cells of a grid to others."""
    with pytest.raises(IngestError, match="no column for 'lat' among 'u', 't', 'x', 'y'"):
        two_columns(tmp_path, "u,t,x,y", "a,2013-04-01T12:00:00Z,10,20")


def test_dates_alone_are_midnights():
    assert read([dt.date(2013, 4, 1)], tz="UTC") == read(["2013-04-01"], tz="UTC") == ({1: NOON - 43_200_000_000}, {})


NO_TIMES = {
    "2013-02-30T00:00:00Z": "time not understood",
    "2013-04-01T24:30:00Z": "time not understood",
    "01/04/2013 12:00": "time not understood",
    "2013-04-01 01:00:00 PM": "time not understood",
    "20130401": "time looks like a date: yyyymmdd",
    "2013040112": "time looks like a date: yyyymmddhh",
    "201304011200": "time looks like a date: yyyymmddhhmm",
    "20130401120000": "time looks like a date: yyyymmddhhmmss",
    "130401": "time looks like a date: yymmdd",
    "2024120410": "time looks like a date: yyyymmddhh",
    "2085121802": "time looks like a date: yyyymmddhh",
    "202403312359": "time looks like a date: yyyymmddhhmm",
    "20241231235959": "time looks like a date: yyyymmddhhmmss",
    "241231": "time looks like a date: yymmdd",
    "41365.5": "time looks like a day number of a spreadsheet",
    "2456384.0": "time too small a number for seconds since 1970",
    "0": "time too small a number for seconds since 1970",
    "infinity": "time not understood",
    "epoch": "time not understood",
    "nan": "time not understood",
    "-1": "time out of range",
    "1969-12-31T23:59:59Z": "time out of range",
    "2101-01-01T00:00:00Z": "time out of range",
    "9999-12-31 00:00:00": "time out of range",
    "20139901120000": "time out of range",
    "": "time missing",
    None: "time missing",
}


def test_times_that_cannot_be_used_have_a_reason():
    """All in one column, with one that can be used: every row is read by itself."""
    instants, reasons = read(["2013-04-01T12:00:00Z", *NO_TIMES], tz="UTC")
    assert instants == {1: NOON}
    assert {written: reasons.get(row) for row, written in enumerate(NO_TIMES, 2)} == NO_TIMES


def test_a_column_without_any_time_is_refused():
    with pytest.raises(IngestError, match="no time in column 'ts' could be read, from row 1 on"):
        read(["monday", "tuesday"])
    with pytest.raises(IngestError, match="column 'ts' holds no times: its type is BOOLEAN"):
        read([True])


def test_an_unknown_zone_is_refused_with_its_neighbours():
    with pytest.raises(IngestError, match="no time zone is called 'Europe/Lisboa'; did you mean 'Europe/Lisbon'"):
        read(["2013-04-01 12:00"], tz="Europe/Lisboa")


def around_changes(zone: ZoneInfo) -> list[dt.datetime]:
    """Local times within a day of every clock change since 1985, and to the second around midnight."""
    step, instant = dt.timedelta(hours=6), dt.datetime(1985, 1, 1, tzinfo=dt.UTC)
    chance, times = random.Random(0), []
    while instant.year < 2026:
        if (instant + step).astimezone(zone).utcoffset() != instant.astimezone(zone).utcoffset():
            local = instant.astimezone(zone).replace(tzinfo=None)
            midnight = local.replace(hour=0, minute=0, second=0)
            times += [local + dt.timedelta(seconds=chance.randint(-30 * 3600, 30 * 3600)) for _ in range(20)]
            times += [midnight + dt.timedelta(seconds=s, days=d) for s in (-60, -1, 0, 59, 60, 3599) for d in (0, 1)]
            times += [midnight + dt.timedelta(minutes=m) for m in range(0, 300, 30)]
        instant += step
    return times


@pytest.mark.parametrize(
    "name",
    ["Europe/Lisbon", "America/Sao_Paulo", "America/St_Johns", "Australia/Lord_Howe", "Asia/Gaza", "Pacific/Apia",
     "Africa/Casablanca", "Antarctica/Troll", "Asia/Kolkata"],
)  # fmt: skip
def test_local_times_agree_with_the_zone_database(name):
    """The first of two, and none for an hour that was skipped (PEP 495, fold=0)."""
    zone = ZoneInfo(name)
    local_times = [*around_changes(zone), dt.datetime(2020, 6, 15, 12)]
    kept, refused = read(local_times, tz=name)
    right, skipped = {}, {}
    for row, local in enumerate(local_times, 1):
        instant = local.replace(tzinfo=zone).astimezone(dt.UTC)
        if instant.astimezone(zone).replace(tzinfo=None) == local:
            right[row] = (instant - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)
        else:
            skipped[row] = "local time skipped by the clock change"
    assert kept == right
    assert refused == skipped


@pytest.mark.parametrize("name", ["Europe/Lisbon", "America/St_Johns", "Australia/Lord_Howe", "Antarctica/Troll"])
def test_a_zone_named_in_the_row_is_read_as_one_given_for_all(name):
    local_times = around_changes(ZoneInfo(name))
    assert read([f"{local} {name}" for local in local_times]) == read(local_times, tz=name)


def test_repeated_hours_are_mentioned():
    con = empty_lab()
    rows = [["ana", "2013-10-27 01:30:00", "38.7", "-9.1"], ["ana", "2013-10-27 03:30:00", "38.7", "-9.1"], GOOD_ROW]
    done = ingest(con, pl.DataFrame(rows, schema=["uid", "ts", "lat", "lng"], orient="row"), tz="Europe/Lisbon")
    assert any("1 local times were shown twice" in note for note in done.notes)


@pytest.mark.parametrize("tz", [None, "Europe/Lisbon"])
def test_zones_that_mean_several_things_or_nothing_are_not_guessed(tz):
    zones = [" BST", " IST", "+99:00", " EST5", " xyz1", " Etc/GMT+15", " Europe/Lisboa", "+05:3"]
    kept, reasons = read(["2024-07-01T12:00:00Z", *(f"2024-07-01 12:00:00{zone}" for zone in zones)], tz)
    assert set(kept) == {1}
    assert {zone: reasons.get(row) for row, zone in enumerate(zones, 2)} == dict.fromkeys(
        zones, "time zone not understood"
    )


def test_infinite_times_are_out_of_range_in_every_type():
    con = empty_lab()
    for n, kind in enumerate(("timestamp", "timestamptz", "date"), 1):
        rows = con.sql(
            f"select 'p' || i as uid, case i when 0 then 'infinity'::{kind} else '2013-04-01'::{kind} end as ts,"
            f" 1.0 + i as lat, {n}.0 as lng from range(2) as t(i)"
        )
        ingest(con, rows.to_arrow_table(), tz="UTC")
    assert rejected(con) == [(1, "time out of range")] * 3


LOCAL = re.compile(
    r"\d{4}([-/])\d{1,2}\1\d{1,2}([T\s]\s*\d{1,2}:\d{1,2}(:\d{1,2}(\.\d+)?)?)?|\d{8}T\d{4}(\d\d(\.\d+)?)?", re.ASCII
)
pieces = st.sampled_from(
    ["2013-04-01", "2013/4/1", "13-04-01", "T", " ", "  ", "\t", "12:00", "12:00:00", "25:00", ".25", ",", "Z", "z", "UTC", "gmt",
     "+", "-", "5", "05", "05:30", "0530", "19", "EST", "Etc/GMT", "Europe/Lisbon", "/", "PM", "xyz1", "1364817600", "20130401",
     "41365.4", "e9", "nan", "infinity", "epoch", "(BC)", "[", "\u0661", "_", "0x"]
)  # fmt: skip
clocks = st.sampled_from(["2013-04-01 12:00:00", "2013/4/1 9:30", "2013-04-01T12:00:00.25", "2013-04-01"])
zones = st.from_regex(r"\A(Etc/)?[A-Za-z]{0,4}[+-]?[0-9]{0,2}(:30)?\Z") | st.lists(pieces, max_size=3).map("".join)
writings = (
    st.tuples(clocks, st.sampled_from(["", " "]), zones).map("".join)
    | st.lists(pieces, max_size=6).map("".join)
    | st.text(max_size=30)
)


@examples(few=4, many=30)
@given(written=st.lists(writings.filter(lambda text: "\0" not in text), min_size=1, max_size=60))
def test_every_text_is_a_time_with_a_stated_zone_or_a_counted_rejection(written):
    """Only a date and a clock, with nothing after them, depend on the zone given."""
    sound, rows = "2013-04-01T12:00:00Z", len(written) + 1
    east, west = (read([sound, *written], tz) for tz in ("Asia/Tokyo", "America/Bogota"))
    for kept, reasons in (east, west):
        assert sorted([*kept, *reasons]) == list(range(1, rows + 1))
        assert set(reasons.values()) <= REASONS
    local = {row for row in range(1, rows + 1) if east[0].get(row) != west[0].get(row)}
    assert local <= {row for row, text in enumerate(written, 2) if LOCAL.fullmatch(text.strip(" "))}
