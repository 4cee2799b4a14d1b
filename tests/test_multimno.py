"""Eurostat's multimno: its events come in, and counts go out as its present population."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_ingest import assert_law, empty_lab, fixes, rejected

import trajlab as tl
from trajlab.errors import IngestError, LabError
from trajlab.ingest import ingest

PERSON = [bytes([i]) * 32 for i in range(3)]
CELLS = {"A": (40.42, -3.70), "B": (40.43, -3.71)}
INSTANT = pa.timestamp("us", "UTC")
MORNING = dt.datetime(2023, 1, 1, 8, tzinfo=dt.UTC)


def event_table(
    rows: list[tuple[bytes | None, dt.datetime | str, str | None, float | None, float | None]],
) -> pa.Table:
    """Events with the columns and types of multimno's own files."""
    user, ts, cell, lat, lng = (list(column) for column in zip(*rows, strict=True))
    times = pa.string() if isinstance(ts[0], str) else INSTANT
    fields = {
        "user_id": (pa.binary(), user),
        "timestamp": (times, ts),
        "mcc": (pa.int32(), [214] * len(rows)),
        "mnc": (pa.string(), ["01"] * len(rows)),
        "plmn": (pa.int32(), [None] * len(rows)),
        "cell_id": (pa.string(), cell),
        "latitude": (pa.float32(), lat),
        "longitude": (pa.float32(), lng),
        "loc_error": (pa.float32(), [None] * len(rows)),
    }
    return pa.table({name: pa.array(values, kind) for name, (kind, values) in fields.items()})


def write_events(folder: Path, day: int, modulo: int, table: pa.Table, **options: object) -> None:
    partition = folder / "year=2023" / "month=1" / f"day={day}" / f"user_id_modulo={modulo}"
    partition.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, partition / f"part-{modulo:05}-c000.snappy.parquet", **options)
    (folder / "_SUCCESS").touch()


def write_cells(folder: Path) -> Path:
    partition = folder / "year=2023" / "month=1" / "day=1"
    partition.mkdir(parents=True)
    lat, lng = zip(*CELLS.values(), strict=True)
    columns = {
        "cell_id": pa.array(list(CELLS)),
        "latitude": pa.array(lat, pa.float32()),
        "longitude": pa.array(lng, pa.float32()),
        "altitude": pa.array([650.0] * len(CELLS), pa.float32()),
        "technology": pa.array(["LTE"] * len(CELLS)),
        "valid_date_start": pa.array(["2023-01-01T00:00:00"] * len(CELLS)),
    }
    pq.write_table(pa.table(columns), partition / "part-00000.snappy.parquet")
    return folder


@pytest.fixture
def cells(tmp_path: Path) -> Path:
    return write_cells(tmp_path / "cells")


@pytest.fixture
def events(tmp_path: Path) -> Path:
    """Two people over two days, in partitions; one event is in no cell, one in a cell that nobody knows."""
    folder = tmp_path / "events"
    hours = [MORNING + dt.timedelta(hours=h) for h in range(4)]
    write_events(folder, 1, 0, event_table([(PERSON[0], hours[0], "A", None, None), (None, hours[1], "A", None, None)]))
    write_events(folder, 1, 1, event_table([
        (PERSON[1], hours[0], "B", None, None),
        (PERSON[1], hours[1], None, 40.5, -3.75),
        (PERSON[1], hours[2], "lost", None, None),
        (PERSON[1], hours[3], None, None, None),
    ]))  # fmt: skip
    write_events(folder, 2, 0, event_table([(PERSON[0], MORNING + dt.timedelta(days=1), "B", None, None)]))
    return folder


def test_events_lie_where_they_say_or_where_their_cell_stands(events, cells):
    con = empty_lab()
    done = ingest(con, events, kind="multimno", tz="Europe/Madrid", stations=cells)
    start = int(MORNING.timestamp()) * 10**6
    hour, day = 3600 * 10**6, 86_400 * 10**6
    found = sorted((uid, ts - start, round(lat, 4), round(lng, 4), place) for _, uid, ts, lat, lng, place in fixes(con))
    assert found == [
        ("00" * 32, 0, 40.42, -3.70, "A"),
        ("00" * 32, day, 40.43, -3.71, "B"),
        ("01" * 32, 0, 40.43, -3.71, "B"),
        ("01" * 32, hour, 40.5, -3.75, None),
    ]
    assert sorted(reason for _, reason in rejected(con)) == ["latitude missing", "person missing", "unknown station"]
    assert done.sources == ["year=2023/month=1/day=1", "year=2023/month=1/day=2"]
    assert_law(con)


def test_a_folder_that_grew_by_a_day_adds_that_day(events, cells):
    con = empty_lab()
    ingest(con, events, kind="multimno", stations=cells)
    write_events(events, 3, 0, event_table([(PERSON[2], MORNING + dt.timedelta(days=2), "A", None, None)]))
    again = ingest(con, events, kind="multimno")
    assert (again.rows, again.kept, again.people_new) == (1, 1, 1)
    assert again.skipped_sources == ["year=2023/month=1/day=1", "year=2023/month=1/day=2"]


def test_times_of_older_spark_are_in_utc_whatever_the_local_zone(tmp_path, cells):
    table = event_table([(PERSON[0], MORNING, "A", None, None)])
    for name, options in {"new": {}, "old": {"use_deprecated_int96_timestamps": True}}.items():
        write_events(tmp_path / name, 1, 0, table, **options)
        con = empty_lab()
        ingest(con, tmp_path / name, kind="multimno", tz="Europe/Madrid", stations=cells)
        assert [f[2] for f in fixes(con)] == [int(MORNING.timestamp()) * 10**6], name
    write_events(tmp_path / "new", 1, 1, table, use_deprecated_int96_timestamps=True)
    with pytest.raises(IngestError, match="day=1: its files write times in two forms"):
        ingest(empty_lab(), tmp_path / "new", kind="multimno")


def test_raw_events_have_text_in_a_zone_that_must_be_named(tmp_path, cells):
    folder = tmp_path / "raw"
    write_events(folder, 1, 0, event_table([(PERSON[0], "2023-01-01T09:00:00", "A", None, None)]))
    with pytest.raises(IngestError, match="carry no zone: say which with tz="):
        ingest(empty_lab(), folder, kind="multimno", stations=cells)
    con = empty_lab()
    ingest(con, folder, kind="multimno", tz="Europe/Madrid", stations=cells)
    assert [f[2] for f in fixes(con)] == [int(MORNING.timestamp()) * 10**6]


def test_what_is_not_multimno_is_refused(tmp_path, cells):
    with pytest.raises(IngestError, match="kind 'multimno' reads a folder of Parquet files"):
        ingest(empty_lab(), tmp_path / "nothing", kind="multimno")
    with pytest.raises(IngestError, match="not events of multimno, .*: there is no 'user_id'"):
        ingest(empty_lab(), cells, kind="multimno")
    text = event_table([(PERSON[0], MORNING, "A", None, None)])
    text = text.set_column(0, "user_id", pa.array(["ana"]))
    write_events(tmp_path / "text", 1, 0, text)
    with pytest.raises(IngestError, match="is binary, not string; read it as kind 'cdr'"):
        ingest(empty_lab(), tmp_path / "text", kind="multimno")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1")
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut.parquet").rename(tmp_path / "cut" / "a.parquet")
    with pytest.raises(IngestError, match="a.parquet: a damaged or cut-off Parquet file"):
        ingest(empty_lab(), tmp_path / "cut", kind="multimno")


@pytest.fixture
def lab(events, cells):
    with tl.open(":memory:") as opened:
        opened.ingest(events, kind="multimno", tz="Europe/Madrid", stations=cells)
        yield opened


def test_counts_go_out_as_the_present_population(lab, tmp_path):
    release = lab.release("inspire:1000", "1h", "static")
    files = lab.export(tmp_path / "out", publishable=True, form="multimno", release=release)
    assert {file.relative_to(tmp_path / "out").parts[:2] for file in files} == {
        ("year=2022", "month=12"), ("year=2023", "month=1")
    }  # fmt: skip
    assert pq.read_schema(files[0]).names == ["grid_id", "population", "timestamp"]
    assert [str(kind) for kind in pq.read_schema(files[0]).types] == ["int64", "float", "timestamp[us, tz=UTC]"]
    rows = [row for file in files for row in pq.read_table(file, partitioning=None).to_pylist()]
    counts = lab.table("counts.occupancy").filter(pl.col("release_id") == release.id)
    assert sum(row["population"] for row in rows) == counts["people"].sum()
    codes = set(lab.table("grid.cell")["label"])
    assert {f"CRS3035RES1000mN{row['grid_id'] // 10**7}E{row['grid_id'] % 10**7}" for row in rows} <= codes
    first = min(row["timestamp"] for row in rows)
    assert first == dt.datetime(2022, 12, 31, 23, tzinfo=dt.UTC)  # midnight in Madrid
    for file in files:
        day = {part.split("=")[0]: int(part.split("=")[1]) for part in file.relative_to(tmp_path / "out").parts[:3]}
        for row in pq.read_table(file, partitioning=None).to_pylist():
            assert (row["timestamp"].year, row["timestamp"].month, row["timestamp"].day) == tuple(day.values())


def test_a_tile_is_known_by_its_corner(tmp_path):
    """50 north, 5 east is 2,999,718.85 m north and 3,962,799.45 m east by IOGP's guidance note 7-2."""
    write_events(tmp_path / "in", 1, 0, event_table([(PERSON[0], MORNING, None, 50.0, 5.0)]))
    with tl.open(":memory:") as lab:
        lab.ingest(tmp_path / "in", kind="multimno", tz="UTC")
        lab.release("inspire:100", "1h", "none")
        (file,) = lab.export(tmp_path / "out", publishable=True, form="multimno")
    assert file.relative_to(tmp_path / "out").as_posix() == "year=2023/month=1/day=1/population.parquet"
    (row,) = pq.read_table(file, partitioning=None).to_pylist()
    assert row == {"grid_id": 29997003962700, "population": 1.0, "timestamp": MORNING}


def test_the_same_counts_are_the_same_bytes(lab, tmp_path):
    release = lab.release("inspire:100", "1h")
    once, again = (lab.export(tmp_path / name, publishable=True, form="multimno", release=release) for name in "ab")
    assert [file.read_bytes() for file in once] == [file.read_bytes() for file in again]


def test_only_counts_on_the_european_grid_are_a_present_population(lab, tmp_path):
    release = lab.release("square:500", "1h")
    with pytest.raises(LabError, match="are square:500: make one with inspire:100 or inspire:1000"):
        lab.export(tmp_path / "out", publishable=True, form="multimno", release=release)
    with pytest.raises(LabError, match="multimno's table is of one release: export it with publishable"):
        lab.export(tmp_path / "out", form="multimno")
    assert not (tmp_path / "out").exists()


SAMPLE = Path(os.environ.get("TRAJLAB_DATA", "no data"), "multimno_sample", "sample_data", "lakehouse", "bronze")


@pytest.mark.skipif(not SAMPLE.is_dir(), reason="TRAJLAB_DATA names no folder with the sample of multimno")
def test_what_multimno_itself_wrote_is_read_and_accounted_for(tmp_path):
    """The sample data of its release 1.0.0: five days of raw events, many of them faulty on purpose."""
    with tl.open(":memory:") as lab:
        summary = lab.ingest(
            SAMPLE / "mno_events", kind="multimno", tz="Europe/Madrid", stations=SAMPLE / "mno_network"
        )
        rows = sum(len(pq.read_table(file, partitioning=None)) for file in SAMPLE.glob("mno_events/**/*.parquet"))
        assert lab.sql("select sum(rows) from records.tally").item() == rows
        assert summary.kept > 500
        assert set(lab.table("records.tally")["outcome"]) == {
            "kept", "exact duplicate", "latitude outside -90..90", "person missing"
        }  # fmt: skip
        release = lab.release("inspire:1000", "1h")
        (*files, last) = lab.export(tmp_path / "out", publishable=True, form="multimno", release=release)
    assert len(files) >= 4
    assert pq.read_schema(last).names == ["grid_id", "population", "timestamp"]
