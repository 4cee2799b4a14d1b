"""The lab file survives: other programs, newer versions, full disks, kills."""

from __future__ import annotations

import re
import resource
import signal
import subprocess
import sys
import textwrap
import time

import duckdb
import polars as pl
import pytest
from conftest import TINY, ingest_tiny, tiny_lab
from polars.testing import assert_frame_equal

import trajlab as tl
from trajlab.cli import main
from trajlab.errors import ContractError, LabError, QueryError, TrajlabError, UnknownNameError
from trajlab.query import Query, catalogue
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


@pytest.mark.parametrize(("at_once", "few"), [(1, 1000), (2, 1000), (7, 1000), (1000, 1000), (1000, 3)])
def test_a_key_that_repeats_is_noticed_in_whichever_part_it_is(monkeypatch, at_once, few):
    monkeypatch.setattr("trajlab.store.HASHES", at_once)
    monkeypatch.setattr("trajlab.store.FEW_HASHES", few)
    store = Store()
    store.con.execute("insert into records.person select range, 'x' from range(20)")
    store.check_grain(Query.load("records.person"))
    for person in (0, 7, 19):
        store.con.execute("insert into records.person values ($person, 'y')", {"person": person})
        with pytest.raises(ContractError, match="promises one row per person, but 1 rows repeat a key"):
            store.check_grain(Query.load("records.person"))
        store.con.execute("delete from records.person where uid = 'y'")


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


@pytest.mark.parametrize("read_only", [False, True])
def test_a_lab_whose_tables_have_other_columns_is_brought_up_to_date(tmp_path, read_only):
    file = tmp_path / "lab.duckdb"
    with tiny_lab(file) as lab:
        before = lab.table("records.fix")
    with duckdb.connect(str(file)) as con:
        con.execute("alter table records.fix drop column place")
        con.execute("alter table records.fix add column shoes integer default 7")
        con.execute("update study.lab set relations = null")
    with tl.open(file, read_only=read_only) as lab:
        assert_frame_equal(lab.table("records.fix").drop("place"), before.drop("place"))
        assert lab.table("records.fix")["place"].is_null().all()
    with duckdb.connect(str(file)) as con:
        assert "shoes" not in {name for (name,) in con.execute("select column_name from duckdb_columns()").fetchall()}


def test_a_view_where_an_older_lab_has_a_table_takes_its_place(tmp_path):
    file = tmp_path / "lab.duckdb"
    tl.open(file).close()
    view = next(query for query in catalogue().values() if query.kind == "view")
    with duckdb.connect(str(file)) as con:
        con.execute(f"drop view {view.table}")
        con.execute(f"create table {view.table} (something integer)")
    with tl.open(file) as lab:
        assert lab.table(view.table).columns == [column.name for column in view.columns]


def test_an_older_lab_that_cannot_be_written_is_refused_with_the_way_on(tmp_path):
    file = tmp_path / "lab.duckdb"
    tl.open(file).close()
    with duckdb.connect(str(file)) as con:
        con.execute("alter table records.fix drop column place")
    with (
        duckdb.connect(str(file), read_only=True),
        pytest.raises(LabError, match="made by an older trajlab .* copy it"),
    ):
        tl.open(file, read_only=True)


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


@pytest.mark.parametrize("below", ["lab.duckdb", "deeper/lab.duckdb"])
def test_a_file_instead_of_the_folder_is_said_so(tmp_path, capsys, below):
    (tmp_path / "key.txt").write_text("no folder")
    assert main(["ingest", str(tmp_path / "key.txt" / below), str(TINY / "records.csv"), "--tz", "UTC"]) == 2
    told = "lab.duckdb cannot be opened: key.txt is a file, not a folder; choose a folder for the lab"
    assert capsys.readouterr().err == f"trajlab: {told}\n"
    assert [file.name for file in tmp_path.iterdir()] == ["key.txt"]


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
        n = 300_000
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


def test_a_kill_in_the_middle_of_ingest_leaves_nothing_half_done(tmp_path):
    """Once; kills at random moments of every command are those of `make soak`."""
    file = tmp_path / "lab.duckdb"
    tiny_lab(file).close()
    code = f"""
import numpy as np, polars as pl, trajlab as tl
n = 4_000_000
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
        time.sleep(0.4)
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
    for limit in ("lots", "4 gallons", "GB"):
        with pytest.raises(LabError, match=f"memory_limit is an amount such as 4GB, 500MB or 60%, not '{limit}'"):
            tl.open(":memory:", memory_limit=limit)
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


@pytest.fixture(scope="module")
def city(tmp_path_factory):
    from trajlab.simulation import write

    file = tmp_path_factory.mktemp("city") / "city.parquet"
    write(file, people=1500, days=7)
    return file


@pytest.mark.parametrize("after", [0.3, 1.0])
def test_ctrl_c_ends_with_130_and_all_or_nothing(tmp_path, city, after):
    file = tmp_path / "lab.duckdb"
    tiny_lab(file).close()
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
        assert ingest.returncode in {130, -signal.SIGINT}  # which a shell calls 130
        assert said.count("\n") == 1
    if ingest.returncode == 0:
        assert fixes > 82


@pytest.mark.parametrize("name", ["study", "report", "study.2024", "Records", "COUNTS.v2", "lab", "temp", "it's"])
def test_a_lab_may_have_any_name(tmp_path, name):
    file = tmp_path / f"{name}.duckdb"
    with ingest_tiny(file) as lab:
        release = lab.release(index="square:1000", slot="3h")
    with tl.open(file, read_only=True) as lab:
        assert lab.published(release.id).counts.equals(release.counts)
        assert lab.sql("select count(*) from records.fix").item() == 82
    assert [found.name for found in tmp_path.iterdir()] == [file.name]


def test_a_lab_at_home_is_found_by_its_tilde(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    tiny_lab("~/x.duckdb").close()
    assert (tmp_path / "x.duckdb").exists()
    assert main(["sql", "~/x.duckdb", "select count(*) as n from records.fix", "--format", "csv"]) == 0
    assert capsys.readouterr().out == "n\n82\n"
    with pytest.raises(LabError, match="~nobody-of-that-name/x.duckdb: no such file or folder"):
        tl.open("~nobody-of-that-name/x.duckdb")


def test_a_lab_can_be_opened_twice_in_one_program(tmp_path):
    file = tmp_path / "lab.duckdb"
    with tiny_lab(file) as lab, tl.open(file) as again:
        lab.release(index="square:1000", slot="3h")
        assert again.sql("select count(*) from counts.release").item() == 1
        with pytest.raises(LabError, match=r"lab.duckdb is open in this program already, .* close that one first"):
            tl.open(file, read_only=True)


@pytest.mark.parametrize(
    ("begin", "told"),
    [
        (100, "lab.duckdb is damaged: restore it from a copy, or make it again from its records"),
        (12_300, "lab.duckdb is damaged: restore it from a copy"),
        (300_000, "(is|(opening|reading) .*: the lab's file is) damaged: restore it from a copy"),
    ],
)
def test_a_damaged_lab_is_called_damaged(tmp_path, begin, told):
    file = tmp_path / "lab.duckdb"
    tiny_lab(file).close()
    content = bytearray(file.read_bytes())
    content[begin::1000] = bytes(byte ^ 255 for byte in content[begin::1000])
    file.write_bytes(content)
    with pytest.raises(LabError, match=told) as error, tl.open(file, read_only=True) as lab:
        lab.table("records.fix")
    assert "another program" not in str(error.value)
    assert file.read_bytes() == content


@pytest.mark.parametrize("length", [100, 12_288, 300_000])
def test_a_lab_that_is_cut_short_is_called_damaged(tmp_path, length):
    file = tmp_path / "lab.duckdb"
    tiny_lab(file).close()
    file.write_bytes(file.read_bytes()[:length])
    with pytest.raises(LabError, match="damaged: restore it from a copy, or make it again from its records"):
        tl.open(file)


def test_a_folder_and_an_empty_file_are_no_labs(tmp_path):
    (tmp_path / "lab.duckdb").touch()
    with pytest.raises(LabError, match="lab.duckdb is not a lab: it is an empty file; choose another name"):
        tl.open(tmp_path / "lab.duckdb")
    with pytest.raises(LabError, match="is a folder: a lab is a file, such as .*/lab.duckdb"):
        tl.open(tmp_path)


@pytest.mark.parametrize("change", ["delete from study.lab", "insert into study.lab from study.lab"])
def test_a_lab_that_does_not_say_who_wrote_it_is_refused(tmp_path, change):
    file = tmp_path / "lab.duckdb"
    tiny_lab(file).close()
    with duckdb.connect(str(file)) as con:
        con.execute(change)
    with pytest.raises(LabError, match=r"does not say which trajlab wrote it \(study.lab has [02] rows\): another"):
        tl.open(file)
    assert file.exists()


@pytest.mark.parametrize("room", [100, 5_000, 20_000])
def test_a_disk_that_is_full_from_the_start_is_said_so_and_no_file_stays(tmp_path, room):
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "trajlab",
            "ingest",
            str(tmp_path / "lab.duckdb"),
            str(TINY / "records.csv"),
            "--tz",
            "UTC",
        ],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
    )
    assert done.returncode == 2
    assert "the disk is full" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_disk_that_is_full_at_commit_is_said_so(tmp_path):
    """Room for all that is written before the commit, and for none of what the commit writes."""
    file = tmp_path / "lab.duckdb"
    tiny_lab(file).close()
    done = run(
        f"""
        import resource
        import trajlab as tl
        from trajlab.errors import LabError
        from pathlib import Path
        lab = tl.open({str(file)!r})
        try:
            with lab._store.transaction("a test"):
                lab._store.con.execute("insert into records.person select range + 1000, md5(range::text) from range(20000)")
                resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
        except LabError as error:
            print(error)
        """,
    )
    assert done.stdout == (
        "a test: the disk is full; nothing was changed. Free some space (or move the lab) and try again\n"
    )
    with tl.open(file) as lab:
        assert lab.sql("select count(*) from records.person").item() == 6


def ingest_into(file, source):
    command = [sys.executable, "-m", "trajlab", "ingest", str(file), str(source), "--tz", "Europe/Lisbon"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("sources", [["good", "good"], ["good", "bad"], ["bad", "good", "bad"]])
def test_of_two_who_make_one_lab_at_once_none_loses_what_it_was_told_to_have(tmp_path, sources):
    from trajlab.simulation import write

    write(tmp_path / "good.parquet", people=50, days=7)
    (tmp_path / "bad.parquet").write_bytes(b"no Parquet")
    file = tmp_path / "lab.duckdb"
    running = [ingest_into(file, tmp_path / f"{source}.parquet") for source in sources]
    said = [process.communicate() for process in running]
    codes = [process.returncode for process in running]
    assert set(codes) <= {0, 2}, said
    assert not any("Traceback" in error for _, error in said)
    if 0 in codes:
        with tl.open(file, read_only=True) as lab:
            assert lab.sql("select count(*) from records.fix").item() == 50 * 7 * 48
    else:
        assert not file.exists()


def test_a_lab_that_is_taken_back_never_takes_another_with_it(tmp_path):
    """One process makes labs and takes them back, the other fills labs of the same name."""
    file = tmp_path / "lab.duckdb"
    back = f"""
from trajlab.errors import LabError
from trajlab.store import Store
while True:
    try:
        store = Store({str(file)!r})
    except LabError:
        continue
    store.take_back()
"""
    filled = 0
    with subprocess.Popen([sys.executable, "-c", back], stderr=subprocess.PIPE, text=True) as other:
        try:
            while filled < 5:
                try:
                    store = Store(str(file))
                except LabError as error:
                    assert re.search("open in another program|was removed by another program", str(error))  # noqa: PT017
                    continue
                with store.transaction("a test"):
                    store.con.execute("insert into records.person values (1, 'ana')")
                assert file.exists()
                store.close()
                assert file.exists()
                filled += 1
                file.unlink()
        finally:
            other.kill()


def test_a_lab_that_was_there_is_never_taken_back(tmp_path):
    file = tmp_path / "lab.duckdb"
    tiny_lab(file).close()
    assert main(["ingest", str(file), str(tmp_path / "nothing.csv")]) == 2
    with tl.open(file) as lab:
        assert lab.sql("select count(*) from records.fix").item() == 82
    duckdb.connect(str(tmp_path / "empty.duckdb")).close()
    assert main(["ingest", str(tmp_path / "empty.duckdb"), str(tmp_path / "nothing.csv")]) == 2
    assert (tmp_path / "empty.duckdb").exists()
