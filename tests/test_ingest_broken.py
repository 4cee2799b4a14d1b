"""Every bad file of fixtures/broken, and the words it is met with."""

from __future__ import annotations

import re

import duckdb
import polars as pl
import pytest
from test_ingest import FIXTURES, GOOD, GOOD_ROW, assert_law, empty_lab, fixes, rejected

from trajlab.errors import IngestError
from trajlab.ingest import add_stations, ingest

BROKEN = FIXTURES / "broken"

PARTS = ("broken", "files", "kinds", "quotes")

REFUSED = {
    "empty.csv": "empty.csv: the file is empty",
    "only_a_mark.csv": "only_a_mark.csv: the file is empty",
    "open_quote_in_names.csv": "open_quote_in_names.csv: a quote is left open in the line of column names",
    "header_only.csv": "header_only.csv: no data rows, only column names",
    "no_header.csv": "no_header.csv: the first line looks like data, not like column names; "
    "put a line such as uid,ts,lat,lng above it",
    "wrong_delimiter.csv": "wrong_delimiter.csv: only one column found: wrong delimiter? "
    "It should be a comma, a semicolon, a tab or a bar",
    "missing_column.csv": "missing_column.csv: no column for 'lng' among 'uid', 'ts', 'lat', 'altitude'; "
    'say which one it is with columns={"lng": "..."} or --column lng=...',
    "two_candidates.csv": "two_candidates.csv: 'lat', 'latitude' could each be 'lat'; "
    'say which with columns={"lat": "lat"} or --column lat=lat',
    "same_name_twice.csv": "same_name_twice.csv: column 'lat' appears twice",
    "naive_times.csv": "naive_times.csv: times in column 'time' carry no zone: say which with tz=..., "
    "for example tz='Europe/Lisbon'",
    "mixed_zones.csv": "mixed_zones.csv: times in column 'time' carry a zone in 1 rows and none in 2: "
    "say which zone the others are in with tz=..., for example tz='Europe/Lisbon'",
    "no_time_at_all.csv": "no_time_at_all.csv: no time in column 'time' could be read, from row 1 on; "
    "expected ISO 8601 such as 2013-04-01T12:00:00+02:00, or seconds or milliseconds since 1970",
    "spreadsheet_days.csv": "spreadsheet_days.csv: no time in column 'ts' could be read, from row 1 on: time looks like "
    "a day number of a spreadsheet; expected ISO 8601 such as 2013-04-01T12:00:00+02:00, or seconds or milliseconds "
    "since 1970",
    "utf16.csv": "utf16.csv: not UTF-8 but UTF-16 or binary; save it as UTF-8 text",
    "cut_off.csv.gz": "cut_off.csv.gz: cannot be unpacked, it is damaged or cut off",
    "truncated.parquet": "truncated.parquet: a damaged or cut-off Parquet file",
    "not_parquet.parquet": "not_parquet.parquet: not a Parquet file, in spite of its name",
    "nothing_here.csv": "there is no file or folder '{path}'",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_cannot_be_read_is_refused_in_one_line(name):
    con = empty_lab()
    with pytest.raises(IngestError) as refusal:
        ingest(con, BROKEN / name)
    assert str(refusal.value) == REFUSED[name].replace("{path}", str(BROKEN / name))


ROWS = {
    "impossible_dates.csv": [
        (3, "time not understood"), (4, "time not understood"), (5, "time out of range"), (6, "time out of range"),
        (7, "time missing"),
    ],
    "zones_with_digits.csv": [(4, "time zone not understood"), (5, "time zone not understood")],
    "compact_times.csv": [
        (2, "time looks like a date: yyyymmddhh"), (3, "time looks like a date: yymmdd"),
        (4, "time looks like a day number of a spreadsheet"), (5, "time looks like a date: yyyymmdd"),
        (6, "time too small a number for seconds since 1970"),
    ],
    "latitude_91.csv": [(3, "latitude outside -90..90"), (4, "longitude outside -180..180")],
    "zero_zero.csv": [
        (3, "at 0, 0: what receivers without a position write"), (4, "at 0, 0: what receivers without a position write"),
    ],
    "nan.csv": [(3, "latitude not a number"), (4, "longitude not a number"), (5, "longitude missing")],
    "infinity.csv": [(3, "latitude infinite"), (4, "longitude infinite")],
    "nobody.csv": [(3, "person missing"), (4, "person missing")],
    "not_utf8.csv": [(3, "not UTF-8")],
    "ragged.csv": [(2, "latitude missing"), (3, "too many fields")],
    "open_quote.csv": [(2, "stray quote")],
    "doubles.csv": [(3, "exact duplicate"), (4, "exact duplicate")],
    "semicolons.csv": [],
    "swapped.csv": [],
    "good.csv.gz": [],
    "line_break_in_quotes.csv": [],
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_bad_rows_are_set_aside_with_their_reason(name):
    con = empty_lab()
    done = ingest(con, BROKEN / name)
    assert rejected(con) == ROWS[name]
    assert done.rows == done.kept + len(ROWS[name])
    assert done.kept > 0
    assert_law(con)


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("semicolons.csv", "semicolons.csv: the delimiter is a semicolon"),
        ("not_utf8.csv", "not_utf8.csv: some bytes are not UTF-8; rows that need them are rejected"),
        (
            "open_quote.csv",
            "open_quote.csv: 1 lines have a quote that is not closed or not doubled, and are rejected",
        ),
        (
            "swapped.csv",
            (
                "swapped.csv: lat and lng look swapped: 'lng' was read as latitude and 'lat' as longitude; "
                "pass columns= with both to override"
            ),
        ),
    ],
)
def test_what_was_guessed_is_said(name, note):
    assert note in ingest(empty_lab(), BROKEN / name).notes


def test_every_broken_file_is_in_the_readme_and_in_a_test():
    files = {path.name for path in BROKEN.iterdir() if path.is_file()} - {"README.md"}
    listed = set(re.findall(r"^\| `([^`]+)`", (BROKEN / "README.md").read_text(), re.MULTILINE))
    assert files == listed
    here = "".join((FIXTURES.parent / "tests" / f"test_ingest_{part}.py").read_text() for part in PARTS)
    assert [name for name in files if name not in here] == []


def test_clock_changes_in_a_file():
    con = empty_lab()
    done = ingest(con, BROKEN / "clock_change.csv", tz="Europe/Lisbon")
    assert rejected(con) == [(2, "local time skipped by the clock change")]
    assert [f[2] // 10**6 for f in fixes(con)] == [1711846799, 1711846800, 1729989000, 1729996200]
    assert "clock_change.csv: 1 local times were shown twice by the clock; the first was taken" in done.notes


def test_mixed_zones_are_read_with_the_zone_given():
    con = empty_lab()
    ingest(con, BROKEN / "mixed_zones.csv", tz="Asia/Tokyo")
    assert [f[2] // 10**6 for f in fixes(con)] == [1709535600, 1709510400, 1709514000]


def test_swapped_coordinates_stay_when_the_columns_were_named():
    with pytest.raises(IngestError, match=r"not one of 2 rows could be kept: latitude outside -90..90 \(2\)"):
        ingest(empty_lab(), BROKEN / "swapped.csv", columns={"lat": "lat", "lng": "lng"})
    con = empty_lab()
    ingest(con, BROKEN / "swapped.csv")
    assert [(f[3], f[4]) for f in fixes(con)] == [(39.98, 116.32), (39.91, 116.35)]


def test_coordinates_that_fit_both_ways_are_left_alone():
    con = empty_lab()
    ingest(con, pl.DataFrame(GOOD).rename({"lat": "lng", "lng": "lat"}))
    assert {f[4] for f in fixes(con)} == {38.71, 38.73, 38.74}


@pytest.mark.parametrize(("source", "said"), [([], "the list is empty"), (7, "cannot read a builtins int")])
def test_what_is_no_source_is_refused(source, said):
    with pytest.raises(IngestError, match=said):
        ingest(empty_lab(), source)


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(IngestError, match="holds no data: expected files ending in .csv"):
        ingest(empty_lab(), tmp_path)


def test_one_file_without_rows_among_others_is_only_mentioned(tmp_path):
    (tmp_path / "a.csv").write_text("uid,ts,lat,lng\n")
    pl.DataFrame(GOOD).write_csv(tmp_path / "b.csv")
    done = ingest(empty_lab(), tmp_path)
    assert done.kept == 3
    assert "a.csv: no data rows" in done.notes


def test_a_mapping_that_names_an_absent_column_is_refused():
    with pytest.raises(IngestError, match="says 'uid' is 'phone', but the columns are 'uid', 'ts', 'lat', 'lng'"):
        ingest(empty_lab(), pl.DataFrame(GOOD), columns={"uid": "phone"})
    with pytest.raises(IngestError, match="columns= knows 'uid', 'ts', 'lat', 'lng', not 'speed'"):
        ingest(empty_lab(), pl.DataFrame(GOOD), columns={"speed": "lat"})


@pytest.mark.parametrize("where", [0, 1, 2, 4])
@pytest.mark.parametrize("size", [1_000_000, 5_000_000])
def test_a_huge_field_costs_one_row_at_most(tmp_path, where, size):
    huge = [*GOOD_ROW, "x"]
    huge[where] = "9" * size
    rows = [[*GOOD_ROW, "x"], huge, ["ben", *GOOD_ROW[1:], "x"]]
    (tmp_path / "huge_field.csv").write_text("uid,ts,lat,lng,note\n" + "".join(",".join(row) + "\n" for row in rows))
    con = empty_lab()
    done = ingest(con, tmp_path / "huge_field.csv")
    reason = {0: "person id longer than 1000 characters", 1: "time not understood", 2: "latitude infinite"}
    assert done.rejected == ({reason[where]: 1} if where in reason else {"exact duplicate": 1})
    assert done.rows == 3
    assert_law(con)


def test_damage_in_the_middle_of_a_parquet_file_is_named(tmp_path):
    path = tmp_path / "scratched.parquet"
    rows = pl.DataFrame(GOOD).select(pl.all().repeat_by(2000).explode())
    rows.with_columns(lat=pl.int_range(pl.len()) * 0.001).write_parquet(path, compression="zstd")
    content = bytearray(path.read_bytes())
    content[4 : len(content) // 2] = b"\x5a" * (len(content) // 2 - 4)
    path.write_bytes(content)
    with pytest.raises(IngestError, match="scratched.parquet: the file is damaged"):
        ingest(empty_lab(), path)


def test_errors_never_quote_a_record(tmp_path):
    secret = "jane.doe@example.org"
    (tmp_path / "a.csv").write_text(f"uid,ts,lat,lng\n{secret},never,north,west\n" * 3)
    with pytest.raises(IngestError) as refusal:
        ingest(empty_lab(), tmp_path / "a.csv")
    assert secret not in str(refusal.value)
    assert "never" not in str(refusal.value)


def test_after_a_refusal_the_lab_is_as_it_was(tmp_path):
    con = empty_lab()
    con.execute("commit")
    for name in REFUSED:
        con.execute("begin")
        with pytest.raises(IngestError):
            ingest(con, [BROKEN / "good.csv.gz", BROKEN / name] if name != "header_only.csv" else BROKEN / name)
        con.execute("rollback")
    for table in ("source", "person", "fix", "rejected"):
        assert con.table(f"records.{table}").fetchall() == []
    con.execute("begin")
    assert ingest(con, BROKEN / "good.csv.gz").kept == 2


def test_reference_tables_with_doubts_are_refused():
    con = empty_lab()
    with pytest.raises(IngestError, match="station ids with more than one set of coordinates: A; give each place"):
        add_stations(con, BROKEN / "duplicate_stations.csv")
    with pytest.raises(IngestError, match="station_off_the_map.csv: no usable lat and lng for B"):
        add_stations(con, BROKEN / "station_off_the_map.csv")
    with pytest.raises(IngestError, match="row 2 has no id, or coordinates that are not numbers"):
        add_stations(con, pl.DataFrame({"station": ["A", "B"], "lat": ["1", "north"], "lng": ["1", "2"]}))
    assert con.table("records.station").fetchall() == []


def test_engine_errors_of_other_kinds_are_not_hidden():
    con = duckdb.connect()
    with pytest.raises(duckdb.Error):
        ingest(con, pl.DataFrame(GOOD))
