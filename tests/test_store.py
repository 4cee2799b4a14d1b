"""The lab file survives: other programs, newer versions, full disks, kills."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import textwrap
import time

import duckdb
import polars as pl
import pytest
from conftest import tiny_lab

import trajlab as tl
from trajlab.errors import ContractError, LabError, QueryError, TrajlabError, UnknownNameError
from trajlab.query import Query
from trajlab.store import Store


def test_a_failed_transaction_leaves_the_lab_as_it_was():
    store = Store()
    with pytest.raises(ZeroDivisionError), store.transaction("a test"):
        store.con.execute("insert into records.person values (1, 'ana')")
        _ = 1 / 0
    assert store.rows("select count(*) from records.person") == [(0,)]
    with store.transaction("a test"):
        store.con.execute("insert into records.person values (1, 'ana')")
    assert store.rows("select count(*) from records.person") == [(1,)]


def test_building_twice_leaves_the_same_rows(town):
    lab = tiny_lab()
    release = lab.release(index="h3:8", slot="3h")
    before = lab.table("counts.occupancy")
    with lab._store.transaction("a test"):
        lab._store.build(Query.load("counts.occupancy"), release_id=release.id, min_count=1)
    assert lab.table("counts.occupancy").equals(before)


def test_a_broken_promise_about_the_key_is_noticed():
    store = Store()
    store.con.execute("insert into records.person values (1, 'ana'), (1, 'ben')")
    with pytest.raises(ContractError, match="records.person promises one row per person, but 1 rows repeat a key"):
        store.check_grain(Query.load("records.person"))


def test_a_frame_with_other_columns_is_refused():
    with pytest.raises(ContractError, match=r"records.person has columns \['person', 'uid'\], not \['uid'\]"):
        Store().insert("records.person", pl.DataFrame({"uid": ["ana"]}))


def test_a_failing_table_names_itself_its_file_and_its_parameters():
    store = Store()
    store.con.execute("drop table slots.position")
    with pytest.raises(
        QueryError, match=r"building counts.flow from 4_counts/flow.sql with release_id='r1', min_count=2"
    ):
        store.build(Query.load("counts.flow"), release_id="r1", min_count=2)


def test_a_lab_opens_again_with_everything_in_it(tmp_path):
    with tiny_lab(tmp_path / "lab.duckdb") as lab:
        release = lab.release(index="square:1000", slot="3h")
    with tl.open(tmp_path / "lab.duckdb", read_only=True) as lab:
        assert lab.published(release.id).counts.equals(release.counts)
        assert "6 people" in repr(lab)
    assert "closed" in repr(lab)


def test_a_lab_written_by_a_newer_version_is_refused(tmp_path):
    file = tmp_path / "lab.duckdb"
    tiny_lab(file).close()
    with duckdb.connect(str(file)) as con:
        con.execute("update study.lab set format = 99, trajlab = '9.0.0'")
    with pytest.raises(LabError, match=r"was written by trajlab 9.0.0 \(lab format 99\); .* upgrade trajlab"):
        tl.open(file)


def test_a_lab_whose_tables_have_other_columns_is_refused(tmp_path):
    file = tmp_path / "lab.duckdb"
    tiny_lab(file).close()
    with duckdb.connect(str(file)) as con:
        con.execute("alter table records.fix drop column place")
    with pytest.raises(LabError, match=r"made by trajlab .*, whose table records.fix has other columns"):
        tl.open(file)


def test_another_duckdb_file_is_not_taken_for_a_lab(tmp_path):
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as con:
        con.execute("create table orders (id integer)")
    with pytest.raises(LabError, match="is a DuckDB file but not a lab: it has 1 tables of its own"):
        tl.open(tmp_path / "shop.duckdb")


def test_some_other_file_is_not_a_lab(tmp_path):
    (tmp_path / "lab.duckdb").write_bytes(b"not a database" * 1000)
    with pytest.raises(LabError, match="lab.duckdb is not a lab"):
        tl.open(tmp_path / "lab.duckdb")


def test_a_folder_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(LabError, match="no such file or folder"):
        tl.open(tmp_path / "nowhere" / "lab.duckdb")


def test_an_unknown_engine_is_refused():
    with pytest.raises(UnknownNameError, match="no engine named 'abacus'; there are: duckdb"):
        tl.open(":memory:", engine="abacus")


def test_a_lab_open_elsewhere_is_said_so(tmp_path):
    file = tmp_path / "lab.duckdb"
    tiny_lab(file).close()
    code = f"import duckdb, time; c = duckdb.connect({str(file)!r}); print('open', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout is not None
            other.stdout.readline()
            with pytest.raises(LabError, match="lab.duckdb is open in another program: close that one first"):
                tl.open(file)
        finally:
            other.kill()


def run(code: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, **options)


def test_a_full_disk_changes_nothing(tmp_path):
    file = tmp_path / "lab.duckdb"
    tiny_lab(file).close()
    limit = file.stat().st_size + 2_000_000
    done = run(
        f"""
        import numpy as np, polars as pl, trajlab as tl
        n = 1_000_000
        rng = np.random.default_rng(0)
        frame = pl.DataFrame({{
            "uid": rng.integers(0, 1000, n).astype(str),
            "ts": pl.Series(1.7e9 + rng.random(n) * 1e6).cast(pl.Int64),
            "lat": 38 + rng.random(n), "lng": -9 + rng.random(n)}})
        with tl.open({str(file)!r}) as lab:
            lab.ingest(frame)
        """,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert "LabError: ingest: the disk is full; nothing was changed" in done.stderr
    with tl.open(file) as lab:
        assert lab.sql("select count(*) from records.fix").item() == 82
        assert lab.sql("select count(*) from records.source").item() == 1


@pytest.mark.parametrize("after", [0.1, 0.4, 0.8])
def test_a_kill_in_the_middle_of_ingest_leaves_nothing_half_done(tmp_path, after):
    file = tmp_path / "lab.duckdb"
    tiny_lab(file).close()
    code = f"""
import numpy as np, polars as pl, trajlab as tl
n = 8_000_000
rng = np.random.default_rng(0)
frame = pl.DataFrame({{"uid": rng.integers(0, 1000, n).astype(str),
    "ts": pl.Series(1.7e9 + rng.random(n) * 1e6).cast(pl.Int64), "lat": 38 + rng.random(n), "lng": -9 + rng.random(n)}})
lab = tl.open({str(file)!r})
print("go", flush=True)
lab.ingest(frame)
print("done", flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as ingest:
        assert ingest.stdout is not None
        ingest.stdout.readline()
        time.sleep(after)
        ingest.send_signal(signal.SIGKILL)
        finished = "done" in ingest.stdout.read()
    assert not finished
    with tl.open(file) as lab:
        assert lab.sql("select count(*) from records.fix").item() == 82
        assert lab.sql("select sum(rows)::bigint from records.tally").item() == 85
        assert lab.release(index="h3:8", slot="3h").people == 6


def test_a_lab_works_within_little_memory(tmp_path):
    with tl.open(tmp_path / "lab.duckdb", memory_limit="400MB", threads=2) as lab:
        lab.ingest(tl.simulate(people=300, days=7, seed=1, interval="5min"), tz="Europe/Lisbon")
        assert lab.release(index="square:500", slot="30min").people == 300


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("selec 1", "syntax error"),
        ("select * from nowhere", "your query: .*nowhere"),
        ("drop table records.fix", "one SELECT at a time"),
        ("explain analyze delete from records.fix", "one SELECT at a time"),
        ("copy records.fix to 'leak.csv'", "one SELECT at a time"),
        ("select interval 1 month", "a type that frames cannot hold"),
        ("select 1; select 2", "one SELECT at a time"),
        ("insert into records.person values (9, 'x')", "one SELECT at a time"),
        ("select $missing", "missing"),
    ],
)
def test_lab_sql_reads_and_says_why_when_it_cannot(town, query, message):
    with pytest.raises(TrajlabError, match=message):
        town.sql(query)


def test_values_are_bound_and_never_become_sql(town):
    hostile = "x' or 1=1; drop table records.fix; --"
    assert len(town.sql("select * from records.person where uid = $uid", uid=hostile)) == 0
    assert town.sql("select count(*) from records.fix").item() == 82


def test_records_of_the_tiny_town_add_up(town):
    tally = dict(town.sql("select outcome, rows from records.tally").iter_rows())
    assert tally.pop("kept") == 82
    assert sorted(tally.values()) == [1, 1, 1]


def test_a_parameter_may_have_any_name(town):
    assert town.sql("select $query::integer + $sql::integer as n", query=1, sql=2).item() == 3


@pytest.mark.parametrize("name", ["", "md:somewhere", "s3://bucket/lab.duckdb"])
def test_a_lab_is_a_local_file(name):
    with pytest.raises(LabError, match="names no lab: give a file such as lab.duckdb"):
        tl.open(name)


def test_limits_that_cannot_be_are_refused(tmp_path):
    with pytest.raises(LabError, match="threads must be between 1 and 1024, not 0"):
        tl.open(":memory:", threads=0)
    with pytest.raises(LabError, match="more memory is needed than memory_limit allows"):
        tl.open(tmp_path / "lab.duckdb", memory_limit="1B")


def test_a_closed_lab_says_so():
    lab = tiny_lab()
    lab.close()
    for verb in (lambda: lab.sql("select 1"), lambda: lab.release(), lambda: lab.published("r0")):
        with pytest.raises(LabError, match="closed"):
            verb()


def test_a_lab_opened_for_reading_changes_nothing(tmp_path):
    tiny_lab(tmp_path / "lab.duckdb").close()
    with (
        tl.open(tmp_path / "lab.duckdb", read_only=True) as lab,
        pytest.raises(LabError, match="open for reading only"),
    ):
        lab.release(index="h3:8", slot="3h")


@pytest.mark.parametrize("after", [0.3, 0.7, 1.0, 1.4])
def test_ctrl_c_ends_with_130_and_all_or_nothing(tmp_path, after):
    file, city = tmp_path / "lab.duckdb", tmp_path / "city.parquet"
    tiny_lab(file).close()
    from trajlab.simulation import write

    write(city, people=1500, days=7)
    command = [sys.executable, "-m", "trajlab", "ingest", str(file), str(city), "--tz", "Europe/Lisbon"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as ingest:
        time.sleep(after)
        ingest.send_signal(signal.SIGINT)
        _, said = ingest.communicate()
    with tl.open(file) as lab:
        fixes = lab.sql("select count(*) from records.fix").item()
        assert fixes in {82, 82 + 1500 * 7 * 48}
        assert lab.sql("select sum(rows)::bigint from records.source").item() == fixes + 3
    assert "RuntimeError" not in said
    assert "aborted" not in said
    if said.startswith("trajlab: "):
        assert (ingest.returncode, said.count("\n")) == (130, 1)
    if ingest.returncode == 0:
        assert fixes > 82


@pytest.mark.parametrize("name", ["study", "report", "counts"])
def test_a_lab_named_like_a_schema_is_refused_before_there_is_a_file(tmp_path, name):
    with pytest.raises(
        LabError, match=f"a lab cannot be called {name}, like one of its schemas: my-{name}.duckdb would do"
    ):
        tl.open(tmp_path / f"{name}.duckdb")
    assert not list(tmp_path.iterdir())
