"""Laws of `ingest`: nothing is lost, nothing is counted twice, and the format makes no difference."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trajlab.errors import IngestError, UnknownNameError
from trajlab.ingest import ingest
from trajlab.ingest._kinds import names
from trajlab.ingest._rejections import reject_duplicates
from trajlab.schema import create_functions

TABLES = """
create schema records;
create table records.source(source_id INTEGER, name VARCHAR, kind VARCHAR, fingerprint VARCHAR, tz VARCHAR,
    settings VARCHAR, rows BIGINT);
create table records.person(person INTEGER, uid VARCHAR);
create table records.fix(source_id INTEGER, source_row BIGINT, person INTEGER, ts TIMESTAMPTZ, lat DOUBLE,
    lng DOUBLE, place VARCHAR);
create table records.call(source_id INTEGER, source_row BIGINT, direction VARCHAR, region VARCHAR);
create table records.rejected(source_id INTEGER, source_row BIGINT, reason VARCHAR);
create table records.station(station VARCHAR, lat DOUBLE, lng DOUBLE);
create table records.place(place VARCHAR, lat DOUBLE, lng DOUBLE, parent VARCHAR);
"""
FIXTURES = Path(__file__).parents[1] / "fixtures"


def empty_lab() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    con.execute("set TimeZone = 'UTC'; set threads = 2")
    con.execute(TABLES)
    create_functions(con)
    con.execute("begin")
    return con


def fixes(con) -> list[tuple]:
    """Row, person, instant, lat, lng and place of every fix, in a stable order."""
    return con.sql(
        "select source_row, uid, epoch_us(ts), lat, lng, place from records.fix join records.person using (person)"
        " order by all"
    ).fetchall()


def rejected(con) -> list[tuple]:
    return con.sql("select source_row, reason from records.rejected order by all").fetchall()


def assert_law(con) -> None:
    """For every source: rows = fixes + rejected, and every row number occurs exactly once."""
    for source, rows in con.sql("select source_id, rows from records.source").fetchall():
        numbers = con.sql(
            "select source_row from records.fix where source_id = $s union all"
            " select source_row from records.rejected where source_id = $s",
            params={"s": source},
        ).fetchall()
        assert sorted(n for (n,) in numbers) == list(range(1, rows + 1))


def write_csv(path: Path, header: list[str], rows: list[list[str]]) -> Path:
    pl.DataFrame(rows, schema=header, orient="row").write_csv(path)
    return path


GOOD = {
    "uid": ["ben", "ana", "ana"],
    "ts": [dt.datetime(2024, 3, 4, h, tzinfo=dt.UTC) for h in (8, 9, 10)],
    "lat": [38.71, 38.73, 38.74],
    "lng": [-9.12, -9.16, -9.15],
}


def sources(tmp_path: Path) -> dict[str, object]:
    frame = pl.DataFrame(GOOD)
    frame.write_csv(tmp_path / "a.csv")
    frame.write_parquet(tmp_path / "a.parquet")
    (tmp_path / "really.csv").write_bytes((tmp_path / "a.parquet").read_bytes())
    (tmp_path / "a.csv.zst").write_bytes(pa.compress((tmp_path / "a.csv").read_bytes(), "zstd", asbytes=True))
    table = frame.to_arrow()
    return {
        "csv": tmp_path / "a.csv",
        "csv.zst": str(tmp_path / "a.csv.zst"),
        "parquet": tmp_path / "a.parquet",
        "parquet called csv": tmp_path / "really.csv",
        "polars": frame,
        "lazy": frame.lazy(),
        "arrow": table,
        "reader": pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=2)),
        "pandas": frame.to_pandas(),
        "categorical": frame.with_columns(pl.col("uid").cast(pl.Categorical)),
    }


@pytest.mark.parametrize("form", [
    "csv", "csv.zst", "parquet", "parquet called csv", "polars", "lazy", "arrow", "reader", "pandas", "categorical",
])  # fmt: skip
def test_every_form_gives_the_same_fixes(form, tmp_path):
    con = empty_lab()
    done = ingest(con, sources(tmp_path)[form])
    hour = 3_600_000_000
    eight = int(GOOD["ts"][0].timestamp()) * 1_000_000
    assert fixes(con) == [
        (1, "ben", eight, 38.71, -9.12, None),
        (2, "ana", eight + hour, 38.73, -9.16, None),
        (3, "ana", eight + 2 * hour, 38.74, -9.15, None),
    ]
    assert (done.rows, done.kept, done.people_new) == (3, 3, 2)
    assert done.rejected == {}
    assert done.mapping == {"uid": "uid", "ts": "ts", "lat": "lat", "lng": "lng"}
    assert con.sql("select uid from records.person order by person").fetchall() == [("ana",), ("ben",)]
    assert_law(con)


@pytest.mark.parametrize("form", ["csv", "parquet", "polars", "lazy", "pandas"])
def test_the_same_source_again_adds_nothing(form, tmp_path):
    con = empty_lab()
    ingest(con, sources(tmp_path)[form])
    before = fixes(con), rejected(con)
    again = ingest(con, sources(tmp_path)[form])
    assert (fixes(con), rejected(con)) == before
    assert again.rows == again.kept == 0
    assert len(again.skipped_sources) == 1
    assert "already in the lab" in str(again)
    assert con.sql("select count(*) from records.source").fetchall() == [(1,)]


def test_a_reordered_frame_is_the_same_source():
    con = empty_lab()
    ingest(con, pl.DataFrame(GOOD))
    assert ingest(con, pl.DataFrame(GOOD).reverse()).skipped_sources == ["polars DataFrame"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"tz": "Europe/Lisbon"}, "another tz"),
        ({"columns": {"lat": "lng", "lng": "lat"}}, "another columns"),
        ({"kind": "cdr"}, "another kind"),
    ],
)
def test_the_same_source_read_otherwise_is_refused(changed, said):
    con = empty_lab()
    ingest(con, pl.DataFrame(GOOD))
    with pytest.raises(IngestError, match=said + ".*open a new lab"):
        ingest(con, pl.DataFrame(GOOD), **changed)


def test_another_format_of_the_same_rows_is_all_duplicates(tmp_path):
    con = empty_lab()
    given = sources(tmp_path)
    ingest(con, given["csv"])
    before = fixes(con)
    assert ingest(con, given["parquet"]).rejected == {"exact duplicate": 3}
    assert fixes(con) == before
    assert_law(con)


GOOD_ROW = ["ana", "2024-03-04T08:00:00+00:00", "38.73", "-9.16"]
people = st.sampled_from(["ana", "ben", "", "Robert'); drop table records.fix;--", 'a"b', "ü;ß", "x,y"])
times = st.sampled_from(
    ["2024-03-04T08:00:00+00:00", "2024-03-04 10:00:00+02", "2024-03-04T08:00:00Z", "1709539200", "1709539200000",
     "", "soon", "2024-02-30T00:00:00Z", "1950-01-01T00:00:00Z", "2024-03-04 08:00:00", "20240304", "infinity",
     "2024-03-04 08:00:00 PM"]
)  # fmt: skip
degrees = st.sampled_from(["38.7", "-9.1", "0", "", "nan", "inf", "-inf", "91", "-181", "179.5", "west", "1e1"])
tables = st.lists(st.tuples(people, times, degrees, degrees).map(list), min_size=1, max_size=60)


def expected(row: list[str]) -> str | None:
    """The slow and obvious version of the rules, for zone Asia/Tokyo."""
    uid, ts, lat, lng = row
    if not uid.strip():
        return "person missing"
    slow_times = {
        "": "time missing", "soon": "time not understood", "2024-02-30T00:00:00Z": "time not understood",
        "1950-01-01T00:00:00Z": "time out of range", "20240304": "time looks like a date: yyyymmdd",
        "infinity": "time not understood", "2024-03-04 08:00:00 PM": "time not understood",
    }  # fmt: skip
    if ts in slow_times:
        return slow_times[ts]
    for name, text, limit in (("latitude", lat, 90), ("longitude", lng, 180)):
        if not text:
            return f"{name} missing"
        if text == "west" or math.isnan(float(text)):
            return f"{name} not a number"
        if math.isinf(float(text)):
            return f"{name} infinite"
        if abs(float(text)) > limit:
            return f"{name} outside -{limit}..{limit}"
    return None


@settings(examples(few=3, many=30), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=tables, seed=st.randoms(use_true_random=False))
def test_every_row_is_a_fix_or_has_its_reason(tmp_path, rows, seed):
    rows = [*rows, GOOD_ROW]  # never all bad, and mostly in place: a file of bad times is refused, see below
    header = ["uid", "ts", "lat", "lng"]
    frame = pl.DataFrame(rows, schema=header, orient="row")
    frame.write_parquet(tmp_path / "r.parquet")
    by_name = {"columns": {"lat": "lat", "lng": "lng"}, "tz": "Asia/Tokyo"}
    results = []
    for source in (write_csv(tmp_path / "r.csv", header, rows), tmp_path / "r.parquet", frame, frame.to_pandas()):
        con = empty_lab()
        done = ingest(con, source, **by_name)
        assert done.rows == len(rows)
        assert done.kept + sum(done.rejected.values()) == done.rows
        assert_law(con)
        results.append((fixes(con), rejected(con)))
    assert all(result == results[0] for result in results)
    reasons = {number: reason for number, reason in results[0][1] if reason != "exact duplicate"}
    assert reasons == {i: why for i, row in enumerate(rows, 1) if (why := expected(row))}

    shuffled = list(rows)
    seed.shuffle(shuffled)
    con = empty_lab()
    ingest(con, pl.DataFrame(shuffled, schema=header, orient="row"), **by_name)
    assert {f[1:] for f in fixes(con)} == {f[1:] for f in results[0][0]}
    assert Counter(r for _, r in rejected(con)) == Counter(r for _, r in results[0][1])


def test_a_file_reads_the_same_in_pieces_and_at_once(tmp_path):
    pl.DataFrame(GOOD).head(2).write_csv(tmp_path / "1.csv")
    pl.DataFrame(GOOD).tail(2).write_csv(tmp_path / "2.csv")
    together, apart = empty_lab(), empty_lab()
    ingest(together, tmp_path)
    ingest(apart, tmp_path / "1.csv")
    ingest(apart, tmp_path / "2.csv")
    assert fixes(together) == fixes(apart)
    assert rejected(together) == rejected(apart) == [(1, "exact duplicate")]


@pytest.mark.parametrize("bits", [64, 3, 0])
@pytest.mark.parametrize("rows_per_pass", [10, 100_000_000])
def test_colliding_hashes_move_nothing_but_duplicates(bits, rows_per_pass):
    con = empty_lab()
    con.execute(
        "insert into records.fix select 1, i, i % 7, to_timestamp(1e9 + i % 3), i % 5, 0, [null, 'a'][1 + i % 2]"
        " from range(1, 1001) t(i)"
    )
    con.execute("insert into records.call select 1, i, ['in', 'out'][1 + i % 2], null from range(1, 1001, 3) t(i)")
    rows = "records.fix left join records.call using (source_id, source_row)"
    everything = "person, ts, lat, place, direction"
    kept = con.sql(f"select {everything}, min(source_row) from {rows} group by all order by all").fetchall()
    assert reject_duplicates(con, 1, bits=bits, rows_per_pass=rows_per_pass) == 1000 - len(kept)
    assert con.sql(f"select {everything}, source_row from {rows} order by all").fetchall() == kept
    assert con.sql("select count(*), count(distinct source_row) from records.rejected").fetchall() == [
        (1000 - len(kept), 1000 - len(kept))
    ]


def test_a_difference_in_direction_alone_is_no_duplicate():
    con = empty_lab()
    rows = pl.DataFrame(GOOD).head(1).select(pl.all().repeat_by(3).explode())
    done = ingest(con, rows.with_columns(direction=pl.Series(["in", "out", "in"])), kind="cdr")
    assert (done.kept, done.rejected) == (2, {"exact duplicate": 1})


def test_people_who_never_move_can_be_left_out():
    con = empty_lab()
    rows = pl.DataFrame(GOOD).vstack(pl.DataFrame(GOOD).head(1).with_columns(ts=pl.lit(GOOD["ts"][2])))
    done = ingest(con, rows, drop_single_location=True)
    assert done.rejected == {"person seen at a single location": 2}
    assert {row[1] for row in fixes(con)} == {"ana"}
    assert_law(con)


def test_a_named_place_is_one_location_whatever_its_coordinates():
    con = empty_lab()
    rows = pl.DataFrame(GOOD).with_columns(ap=pl.Series(["gym", "gym", "gym"]))
    elsewhere = pl.DataFrame(GOOD).tail(1).with_columns(uid=pl.lit("ben"), ap=pl.lit("library"))
    done = ingest(con, rows.vstack(elsewhere), kind="wifi", drop_single_location=True)
    assert done.rejected == {"person seen at a single location": 2}
    assert {row[1] for row in fixes(con)} == {"ben"}


def test_new_people_come_after_known_ones_in_order_of_their_ids():
    con = empty_lab()
    ingest(con, pl.DataFrame(GOOD).tail(1))
    later = pl.DataFrame(GOOD).with_columns(uid=pl.Series(["zoe", "ben", "ana"]), lat=pl.lit(1.0))
    assert ingest(con, later).people_new == 2
    assert con.sql("select uid from records.person order by person").fetchall() == [("ana",), ("ben",), ("zoe",)]


def test_ids_are_text_without_spaces_around_them():
    con = empty_lab()
    rows = pl.DataFrame(GOOD)
    ingest(con, rows.with_columns(uid=pl.Series([" 7", "7 ", "7"])))
    ingest(con, rows.with_columns(uid=pl.Series([7, 7, 8]), lat=pl.lit(1.0)))
    ingest(con, rows.with_columns(uid=pl.Series([7.0, None, 9.0]), lat=pl.lit(2.0)))
    assert con.sql("select uid from records.person order by person").fetchall() == [("7",), ("8",), ("9",)]
    assert rejected(con) == [(2, "person missing")]


@pytest.mark.parametrize(
    "name", ["a b.csv", "it's.csv", 'q"q.csv', "s*r.csv", "s[1].csv", "w?.csv", "a;b--.csv", "ü.csv"]
)
def test_file_names_are_taken_literally(tmp_path, name):
    pl.DataFrame(GOOD).head(1).write_csv(tmp_path / name)
    pl.DataFrame(GOOD).write_csv(tmp_path / "s1r.csv")
    pl.DataFrame(GOOD).write_csv(tmp_path / "s1.csv")
    pl.DataFrame(GOOD).write_csv(tmp_path / "w1.csv")
    con = empty_lab()
    assert ingest(con, tmp_path / name).rows == 1
    pl.DataFrame(GOOD).tail(1).write_parquet(tmp_path / (name + ".parquet"))
    assert ingest(con, tmp_path / (name + ".parquet")).rows == 1


@pytest.mark.parametrize("form", ["csv", "parquet", "frame"])
@pytest.mark.parametrize("name", ['"', "a.b", "x; drop table records.fix", "c3", "source_row", "fault", "select"])
def test_column_names_are_taken_literally(tmp_path, name, form):
    frame = pl.DataFrame(GOOD).with_columns(c1=pl.lit("noise")).rename({"uid": name})
    if form == "csv":
        frame.write_csv(tmp_path / "f.csv")
    else:
        frame.write_parquet(tmp_path / "f.parquet")
    con = empty_lab()
    source = frame if form == "frame" else tmp_path / f"f.{form}"
    assert ingest(con, source, columns={"uid": name}).kept == 3
    assert {row[1] for row in fixes(con)} == {"ana", "ben"}


def test_a_folder_is_read_whole_and_what_is_not_data_is_named(tmp_path):
    inner = tmp_path / "2024"
    inner.mkdir()
    pl.DataFrame(GOOD).head(1).write_csv(inner / "b.csv")
    pl.DataFrame(GOOD).tail(1).write_parquet(tmp_path / "c.parquet")
    (tmp_path / "notes.md").write_text("hello")
    (tmp_path / ".hidden.csv").write_text("x")
    (tmp_path / "_SUCCESS").write_text("")
    con = empty_lab()
    done = ingest(con, tmp_path)
    assert done.sources == ["2024/b.csv", "c.parquet"]
    assert "not data, left out: notes.md" in done.notes


def test_what_was_read_can_be_printed():
    con = empty_lab()
    frame = pl.DataFrame(GOOD).rename({"uid": "device", "lng": "lon"}).with_columns(lat=pl.Series([38.7, 91.0, None]))
    lines = str(ingest(con, frame, tz="UTC")).splitlines()
    assert lines == [
        "3 rows read, 1 kept, new people: 1",
        "  1 rejected: latitude missing",
        "  1 rejected: latitude outside -90..90",
        "  polars DataFrame: read uid = 'device', ts = 'ts', lat = 'lat', lng = 'lon'",
    ]


def test_fixes_at_zero_zero_are_kept_and_mentioned_where_there_are_no_others():
    con = empty_lab()
    done = ingest(con, pl.DataFrame(GOOD).with_columns(lat=pl.lit(0.0), lng=pl.lit(0.0)))
    assert done.kept == 3
    assert "3 rows lie exactly at 0, 0 and were kept: there are no others" in done.notes


def test_nothing_is_left_behind_in_the_connection(tmp_path):
    con = empty_lab()
    for source in sources(tmp_path).values():
        ingest(con, source)
    assert con.sql("select table_name from duckdb_tables() where temporary").fetchall() == []
    assert con.sql("select view_name from duckdb_views() where not internal").fetchall() == []


def test_kinds_are_found_by_their_files():
    assert names() == ["bandicoot", "cdr", "geolife", "gps", "multimno", "porto", "wifi"]
    with pytest.raises(UnknownNameError, match="there are: bandicoot, cdr, geolife, gps, multimno, porto, wifi"):
        ingest(empty_lab(), pl.DataFrame(GOOD), kind="radar")


@pytest.mark.parametrize(
    ("header", "mapping"),
    [
        ("uid,datetime,lat,lng", "scikit-mobility"),
        ("user_id,tracked_at,latitude,longitude", "trackintel"),
        ("uid,timestamp,latitude,longitude", "NOMAD"),
        ("DEVICE_ID,Date_Time,LAT,Lon", "any case"),
        ("id,time,lat,long", "weak id"),
        ("user_id,id,time,lat,long", "weak id beside a strong one"),
    ],
)
def test_columns_of_other_tools_are_known(header, mapping):
    row = {"time": GOOD["ts"][0], "lat": 38.7, "lon": -9.1, "uid": "ana"}
    values = {
        name: [row["time"] if name.lower()[0] == "t" or "date" in name.lower()
               else 38.7 if name.lower().startswith("lat") else -9.1 if name.lower().startswith("l") else "ana"]
        for name in header.split(",")
    }  # fmt: skip
    con = empty_lab()
    done = ingest(con, pl.DataFrame(values))
    assert done.kept == 1, mapping
    assert done.mapping["uid"] == header.split(",")[0]


def test_x_and_y_are_not_taken_for_degrees():
    frame = pl.DataFrame(GOOD).rename({"lat": "y", "lng": "x"})
    with pytest.raises(IngestError, match="no column for 'lat' among 'uid', 'ts', 'y', 'x'"):
        ingest(empty_lab(), frame)
    assert ingest(empty_lab(), frame, columns={"lat": "y", "lng": "x"}).kept == 3


def test_pandas_times_with_and_without_zone_are_told_apart():
    noon = dt.datetime(2024, 1, 1, 12)
    mixed = pd.DataFrame({"uid": ["a", "b"], "lat": 1.0, "lng": 2.0})
    mixed["ts"] = pd.Series([noon.replace(tzinfo=dt.UTC), noon], dtype=object)
    con = empty_lab()
    ingest(con, mixed, tz="Asia/Tokyo")
    assert con.sql("select epoch(ts)::bigint from records.fix order by person").fetchall() == [
        (1704110400,),
        (1704078000,),
    ]
    with pytest.raises(IngestError, match="carry a zone in 1 rows and none in 1"):
        ingest(empty_lab(), mixed)


@pytest.mark.parametrize(
    ("ts", "message"),
    [
        (pd.period_range("2024", periods=2, freq="h"), "holds periods: turn them into times"),
        (pd.Series([1.7e9, 1.7e9 + 60], dtype="float32"), "holds 32-bit floats, which are off by minutes"),
    ],
)
def test_times_that_would_be_misread_are_refused(ts, message):
    with pytest.raises(IngestError, match=message):
        ingest(empty_lab(), pd.DataFrame({"uid": ["a", "b"], "lat": 1.0, "lng": 2.0, "ts": ts}))


def test_an_empty_lazy_frame_and_a_failing_one_are_refused_without_quoting_records():
    rows = pl.DataFrame(GOOD)
    with pytest.raises(IngestError, match="no data rows"):
        ingest(empty_lab(), rows.lazy().filter(pl.lit(value=False)))
    with pytest.raises(IngestError) as refused:
        ingest(empty_lab(), rows.lazy().with_columns(pl.lit("secret").cast(pl.Int64).alias("lat")))
    assert "secret" not in str(refused.value)


def test_a_person_is_the_same_whatever_the_type_of_the_number():
    con = empty_lab()
    at = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
    for n, uid in enumerate(
        [pl.Series([0, 7, 10**17]), pl.Series([-0.0, 7.0, 1e17]), pl.Series(["0", "7", str(10**17)])]
    ):
        ingest(con, pl.DataFrame({"uid": uid, "ts": [at + dt.timedelta(minutes=n)] * 3, "lat": 1.0, "lng": 2.0}))
    assert con.sql("select count(*) from records.person").fetchall() == [(3,)]
