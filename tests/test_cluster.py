"""A lab on shards, without a cluster: whatever the number of shards, the rows are those of the embedded engine."""

from __future__ import annotations

import errno
import json
import pickle
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import MANY, TINY
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import trajlab as tl
from trajlab.cli import main
from trajlab.cluster import LARGE, ingest, spark
from trajlab.cluster.crowds import combinations, points
from trajlab.cluster.folder import MOST_SHARDS
from trajlab.cluster.lab import ClusterLab, open_cluster
from trajlab.cluster.local import Local
from trajlab.cluster.merging import merge_sql
from trajlab.cluster.plan import JOBS, RECORD_SECONDS, START_SECONDS, TASK_SECONDS, Plan
from trajlab.cluster.shard import BuildPart, RunStep, SendPart
from trajlab.errors import ContractError, IngestError, LabError, ReleaseError, RiskError
from trajlab.query import catalogue
from trajlab.risk import knowledge

TABLES = [query.table for query in catalogue().values() if not query.view]
SETTINGS: list[dict[str, Any]] = [
    {"index": "h3:8", "slot": "1h", "fill": "linear", "people": 17, "seed": 3},
    {"index": "square:500", "slot": "1h", "protect": ["suppress:2", "round:5"]},
    {"index": "square:500", "slot": "1h", "fill": "none", "min_count": 2},
]


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """Files in which people, times and whole contents come twice, and somebody is at 0, 0."""
    folder = tmp_path_factory.mktemp("files")
    frame = tl.simulate(people=30, days=2, seed=5)
    third = len(frame) // 3
    lost = frame[:1].with_columns(lat=0.0, lng=0.0)
    frame[:third].write_parquet(folder / "a.parquet")
    pl.concat([frame[third : 2 * third], lost]).write_csv(folder / "b.csv")
    pl.concat([frame[2 * third :], frame[:40]]).write_parquet(folder / "c.parquet")
    frame[:third].write_parquet(folder / "d.parquet")
    (folder / "e.csv").write_text(
        "uid,ts,lat,lng\nx,2024-01-01 10:00:00,95,1\ny,no time,1,1\nz,2024-01-01 10:00:00,1,1\n"
    )
    return folder


@pytest.fixture(scope="module")
def embedded(files) -> tl.Lab:
    lab = tl.open(quiet=True)
    work(lab, files)
    return lab


@pytest.fixture
def one_file_a_task(monkeypatch):
    monkeypatch.setattr(ingest, "GROUP", 1)


def work(lab: tl.Lab, files: Path) -> None:
    lab.ingest(files, tz="Europe/Lisbon")
    for settings in SETTINGS:
        lab.release(**settings)


def open_shards(folder: Path, shards: int | None = None, runner: Any = None) -> ClusterLab:
    return open_cluster(folder, runner=runner or Local(), shards=shards, quiet=True)


def assert_same_rows(lab: tl.Lab, other: tl.Lab) -> None:
    for table in TABLES:
        rows, others = (each.sql(f"select * from {table} order by all") for each in (lab, other))
        try:
            assert_frame_equal(rows, others, rel_tol=1e-9)
        except AssertionError as error:
            raise AssertionError(f"{table}: {error}") from None


@pytest.mark.parametrize("shards", [2, 7] if MANY else [2])
def test_shards_have_the_rows_of_the_embedded_engine(shards, files, embedded, tmp_path, one_file_a_task):
    with open_shards(tmp_path / "lab", shards) as lab:
        work(lab, files)
        assert_same_rows(lab, embedded)
    with tl.open(tmp_path / "lab", read_only=True) as again:
        assert_same_rows(again, embedded)


class Watched(Local):
    """Which SQL files tasks ran."""

    def __init__(self) -> None:
        self.built: set[str] = set()

    def run(self, task: Callable[[int], Any], tasks: int, doing: str) -> list[Any]:
        if isinstance(task, BuildPart | RunStep):
            self.built.add(task.table)
        return super().run(task, tasks, doing)


def random_records(seed: int) -> pl.DataFrame:
    """A dozen people on few spots and minutes: times, places and whole rows come twice, in no order."""
    rng = np.random.default_rng(seed)
    people, minutes = rng.integers(0, 12, 400), rng.integers(0, 3 * 24 * 12, 400) * 5
    return pl.DataFrame(
        {
            "uid": [f"p{person}" for person in people],
            "ts": [
                f"2024-03-{4 + minute // 1440:02d} {minute // 60 % 24:02d}:{minute % 60:02d}:00" for minute in minutes
            ],
            "lat": 38.70 + rng.integers(0, 5, 400) / 100,
            "lng": -9.15 + rng.integers(0, 5, 400) / 100,
        }
    )


@pytest.mark.parametrize(("seed", "shards"), [*product((None, 0), (1, 2, 7))] if MANY else [(None, 1), (0, 7)])
def test_every_file_that_runs_on_shards_has_the_rows_of_the_embedded_engine(seed, shards, tmp_path):
    file = TINY / "records.csv"
    if seed is not None:
        file = tmp_path / "records.csv"
        random_records(seed + shards).write_csv(file)
    with open_shards(tmp_path / "lab", shards, watched := Watched()) as lab, tl.open(quiet=True) as embedded:
        for each in (lab, embedded):
            each.ingest(file, tz="Europe/Lisbon")
            each.release(index="square:1000", slot="3h", fill="linear", coverage=0.1, people=4, seed=shards)
            release = each.release(index="square:1000", slot="1h", days=1, align=True)
            each.risk(release, "top:2", sample=3, seed=shards)
        assert_same_rows(lab, embedded)
    assert watched.built == {
        query.table
        for query in catalogue().values()
        if (query.table in LARGE and not query.table.startswith("records.")) or query.merge
    } - {"metrics.top_place", "metrics.anonymity", "metrics.known_point"}  # which tasks make that do more


EVERY_KIND = [example.format(2) for name in knowledge.names() for example in knowledge.kind(name).examples]
SOME_KINDS = ["top:variable:unordered:0.3", "points:1", "points:2:drop", "locations:2", "sequence:2", "frequency:2:0.5"]
OVER_ITS_LIMIT = "unique:3:1"


@pytest.mark.parametrize("shards", [1, 2, 7] if MANY else [2])
def test_kinds_of_knowledge_have_the_answer_of_the_embedded_engine(shards, tmp_path, monkeypatch):
    monkeypatch.setattr(points, "AT_ONCE", 5)
    monkeypatch.setattr(combinations, "AT_ONCE", 7)
    random_records(shards).write_csv(tmp_path / "records.csv")
    with open_shards(tmp_path / "lab", shards) as lab, tl.open(quiet=True) as embedded:
        for each in (lab, embedded):
            each.ingest(tmp_path / "records.csv", tz="UTC")
            release = each.release(index="square:1000", slot="6h", fill="none")
            for kind in (*(EVERY_KIND if MANY else SOME_KINDS), OVER_ITS_LIMIT):
                each.risk(release, kind, basis="records", seed=1)
            each.risk(release, "points:2", sample=4, seed=3)
            each.risk(release, "unique:2", sample=4, seed=3)
        assert_same_rows(lab, embedded)
        for wrong in ("points:99", "top:99", "unique:99"):
            said = []
            for each in (lab, embedded):
                with pytest.raises(RiskError) as error:
                    each.risk(release, wrong)
                said.append(str(error.value))
            assert said[0] == said[1]
        assert_same_rows(lab, embedded)  # what was refused left nothing
    assert not list((tmp_path / "lab").glob("work/*"))
    assert not list((tmp_path / "lab").glob("tables/parts.*/*/*"))


def test_the_embedded_engine_adds_answers_to_those_of_a_cluster(files, tmp_path):
    with open_shards(tmp_path / "lab", 2) as lab:
        lab.ingest(files / "a.parquet", tz="UTC")
        release = lab.release(index="square:2000", slot="2h").id
        first = lab.risk(release, "points:1")
    with tl.open(tmp_path / "lab", quiet=True) as lab:
        assert lab.risk(release, "points:1") == first
        other = lab.risk(release, "top:2")
        cut = lab.protect(release, "cut:6h")
        run = lab.attack(release, "shuffle")
    with open_shards(tmp_path / "lab") as lab:
        assert lab.risk(release, "top:2") == other
        third = lab.risk(release, "unique:2")
        counted = lab.sql("select risk_id, count(*) as people from metrics.anonymity group by all")
        assert dict(counted.rows()) == {found.id: 10 for found in (first, other, third)}
        with pytest.raises(LabError, match="were made by the embedded engine and are not on shards: ask of them there"):
            lab.risk(cut, "points:1")
        with pytest.raises(LabError, match="tracks of run .* are searched by the embedded engine alone"):
            lab.risk(run, "points:1")


POLICY = """
name = "leaks"
[[rule]]
rule = "singling_out"
knowledge = "points:1"
searched = "traces"
at_most = 0.5
[[rule]]
rule = "contributors"
at_least = 2
"""


def test_rules_about_true_traces_are_answered_on_shards_and_others_here(files, tmp_path, capsys):
    (tmp_path / "leaks.toml").write_text(POLICY)
    watched = Watched()
    with open_cluster(tmp_path / "lab", runner=watched, shards=2) as lab, tl.open(quiet=True) as embedded:
        decided = []
        for each in (lab, embedded):
            each.ingest(files / "a.parquet", tz="UTC")
            release = each.release(index="square:2000", slot="2h")
            decided.append(each.decide(release, tmp_path / "leaks.toml"))
        assert "on this machine, not on shards: contributors\n" in capsys.readouterr().err
        assert_same_rows(lab, embedded)
        assert lab.certificate(decided[0], tmp_path / "decision.json")[0].stat().st_size > 1000
    assert decided[0].verdict == decided[1].verdict == "fail"
    assert "slots.visit" in watched.built


def test_an_answer_that_the_lab_does_not_know_is_not_read(files, tmp_path, monkeypatch):
    def cut_off(*_: Any) -> None:
        raise KeyboardInterrupt

    with open_shards(tmp_path / "lab", 2) as lab:
        lab.ingest(files / "a.parquet", tz="UTC")
        release = lab.release(index="square:2000", slot="2h").id
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr("trajlab.risk.run.keep", cut_off)
            lab.risk(release, "points:1")
    with tl.open(tmp_path / "lab", quiet=True) as lab:
        for table in ("metrics.target", "metrics.anonymity", "metrics.known_point"):
            assert list((tmp_path / "lab" / "tables" / table).glob("*/_done.json"))
            assert lab.sql(f"select count(*) from {table}").item() == 0, table
        found = lab.risk(release, "points:1")
    for reopen in (tl.open, open_shards):
        with reopen(tmp_path / "lab") as lab:
            lab.risk(release, "top:1")
            for table in ("metrics.target", "metrics.anonymity", "metrics.known_point"):
                rows = lab.sql(f"select count(*) from {table} where risk_id = $id", id=found.id)
                assert rows.item() == found.people, table


def test_ingest_says_what_the_embedded_engine_says(files, tmp_path, one_file_a_task):
    with open_shards(tmp_path / "lab", 3) as lab, tl.open(quiet=True) as embedded:
        for _ in range(2):  # the second time nothing is added
            one, other = (each.ingest(files, tz="UTC") for each in (lab, embedded))
            assert replace(one, notes=sorted(one.notes)) == replace(other, notes=sorted(other.notes))


def test_records_that_come_later_meet_those_that_are_there(files, tmp_path, one_file_a_task):
    with open_shards(tmp_path / "lab", 3) as lab, tl.open(quiet=True) as embedded:
        for each in (lab, embedded):
            for name in ("c.parquet", "a.parquet", "b.csv"):
                each.ingest(files / name, tz="UTC")
            each.release(index="square:1000", slot="2h")
        assert_same_rows(lab, embedded)


def test_call_records_and_people_who_never_move(tmp_path):
    stations = pl.DataFrame({"station": ["n", "s"], "lat": [38.8, 38.7], "lng": [-9.1, -9.2]})
    calls = pl.DataFrame(
        {
            "uid": ["a", "a", "b", "b", "c"],
            "ts": [f"2024-01-01 1{n}:00:00" for n in (0, 1, 0, 0, 2)],
            "station": ["n", "s", "n", "n", "q"],
            "direction": ["in", "out", "in", "out", "in"],
        }
    )
    calls.write_csv(tmp_path / "calls.csv")
    with open_shards(tmp_path / "lab", 2) as lab, tl.open(quiet=True) as embedded:
        for each in (lab, embedded):
            each.ingest(tmp_path / "calls.csv", kind="cdr", tz="UTC", stations=stations, drop_single_location=True)
        assert_same_rows(lab, embedded)
        with pytest.raises(IngestError, match="only the first ingest can ask for it"):
            lab.ingest(tmp_path / "calls.csv", kind="cdr", drop_single_location=True)


def test_the_order_of_rows_changes_no_count_and_no_crowd(files, tmp_path):
    frame = pl.read_parquet(files / "a.parquet")
    found = []
    for order, rows in enumerate((frame, frame.sample(fraction=1, shuffle=True, seed=1))):
        rows.write_parquet(tmp_path / "rows.parquet")
        with open_shards(tmp_path / f"lab{order}", 3) as lab:
            lab.ingest(tmp_path / "rows.parquet", tz="UTC")
            release = lab.release(index="h3:8", slot="1h", fill="linear")
            for known in ("top:2", "points:1", "unique:2"):
                lab.risk(release, known)
            of_release = [
                lab.sql(f"select * exclude release_id from {table} order by all")
                for table in ("counts.occupancy", "slots.position")
            ]
            found.append([*of_release, lab.sql("select * exclude risk_id from metrics.anonymity order by all")])
    for one, other in zip(*found, strict=True):
        assert_frame_equal(one, other)


class CutOff(Local):
    """Whoever starts the tasks is killed after so many jobs."""

    def __init__(self, jobs: int) -> None:
        self.jobs, self.left = 0, jobs

    def run(self, task: Callable[[int], Any], tasks: int, doing: str) -> list[Any]:
        done = super().run(task, tasks, doing)
        self.jobs, self.left = self.jobs + 1, self.left - 1
        if self.left == 0:
            raise KeyboardInterrupt
        return done


def test_a_run_that_was_cut_off_goes_on_after_the_last_finished_table(files, embedded, tmp_path, one_file_a_task):
    whole = CutOff(10**9)
    with open_shards(tmp_path / "whole", 2, whole) as lab:
        work(lab, files)
    jobs = 0
    for left in (3, 1, 2, 5, 8, 10**9):
        runner = CutOff(left)
        try:
            with open_shards(tmp_path / "lab", 2, runner) as lab:
                work(lab, files)
                assert_same_rows(lab, embedded)
        except KeyboardInterrupt:
            assert left < 10**9
        jobs += runner.jobs
    assert jobs < whole.jobs + 5 * 6  # an interrupted job is done again, and so are sums; built tables are not
    assert not list((tmp_path / "lab").glob("work/*"))
    assert not list((tmp_path / "lab").rglob("*.unfinished"))


def test_output_without_its_mark_is_not_read(files, tmp_path):
    with open_shards(tmp_path / "lab", 2) as lab:
        lab.ingest(files / "a.parquet", tz="UTC")
        release = lab.release(index="square:500", slot="1h")
    home = tmp_path / "lab" / "tables" / "slots.position" / release.id
    shutil.copy(home / "00000.parquet", home / "00009.parquet.abc.unfinished")
    with tl.open(tmp_path / "lab", read_only=True) as lab:
        assert lab.sql("select count(*) from slots.position").item() > 0
    (home / "_done.json").unlink()
    with tl.open(tmp_path / "lab", read_only=True) as lab:
        assert lab.sql("select count(*) from slots.position").item() == 0


def test_the_embedded_engine_attacks_and_reports_what_a_cluster_made(files, tmp_path):
    with open_shards(tmp_path / "lab", 2) as lab:
        lab.ingest(files / "a.parquet", tz="UTC")
        release = lab.release(index="square:2000", slot="2h")
    with tl.open(tmp_path / "lab", quiet=True) as lab:
        lab.attack(release.id, "shuffle")
        assert lab.risk(release.id, "points:2").people == 10
        assert len(lab.table("metrics.recovery"))
        assert lab.report(tmp_path / "report.html").stat().st_size > 10_000
        with pytest.raises(
            LabError,
            match="ingest: person is a large table of a cluster lab: open the folder with engine='spark' to write it",
        ):
            lab.ingest(files / "c.parquet", tz="UTC")


def test_no_table_and_no_view_holds_a_path(files, tmp_path):
    with open_shards(tmp_path / "lab", 2) as lab:
        work(lab, files)
        for table in TABLES:
            assert str(tmp_path) not in str(lab.sql(f"select * from {table}").to_dicts()), table
        assert str(tmp_path) not in str(lab.sql("select sql from duckdb_views()").to_dicts())
    assert str(tmp_path) not in (tmp_path / "lab" / "trajlab.json").read_text()


def test_how_rows_of_shards_become_one():
    assert merge_sql("", ["a"], "t") == 'select "a" as "a" from t group by "a" order by "a"'
    assert merge_sql("sum(n) >= $least", ["k", "n"], "t") == (
        'select "k" as "k", sum("n")::bigint as "n" from t group by "k" having sum("n") >= $least order by "k"'
    )
    with pytest.raises(ContractError, match="merge: 'mean\\(n\\)' is not such as 'sum\\(people\\) >= \\$min_count'"):
        merge_sql("mean(n)", ["n"], "t")
    with pytest.raises(ContractError, match="merge: names 'm', which is no column of n"):
        merge_sql("sum(m)", ["n"], "t")


def test_a_folder_that_is_no_cluster_lab_is_refused(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "note.txt").write_text("mine")
    for opening in (lambda: open_shards(tmp_path / "full"),):
        with pytest.raises(
            LabError, match="full is not a cluster lab: it has no trajlab.json; name a new or empty folder"
        ):
            opening()
    (tmp_path / "file").write_text("")
    with pytest.raises(LabError, match="file is a file: a cluster lab is a folder"):
        open_shards(tmp_path / "file")
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "trajlab.json").write_text("{}")
    with pytest.raises(LabError, match="odd: trajlab.json is damaged"):
        open_shards(tmp_path / "odd")
    (tmp_path / "odd" / "trajlab.json").write_text(json.dumps({"format": 99, "shards": 2}))
    with pytest.raises(LabError, match="odd was written by a newer trajlab \\(folder format 99\\)"):
        open_shards(tmp_path / "odd")
    with pytest.raises(LabError, match="'s3://bucket/lab' is a URL: a cluster lab is a folder"):
        open_cluster("s3://bucket/lab", runner=Local())
    with pytest.raises(LabError, match="shards must be a whole number between 1 and 100,000, not 0"):
        open_shards(tmp_path / "none", 0)
    with pytest.raises(LabError, match="session= and shards= go with engine='spark'"):
        tl.open(shards=3)
    with pytest.raises(LabError, match="read_only is for the embedded engine"):
        open_cluster(tmp_path / "none", runner=Local(), read_only=True)


def test_what_does_not_run_on_a_cluster_is_said(files, tmp_path):
    with open_shards(tmp_path / "lab", 2) as lab:
        with pytest.raises(LabError, match="attack does not run on a cluster, where there are ingest, release"):
            lab.attack("r", "habits")
        with pytest.raises(
            IngestError, match="kind 'wifi' is read by the embedded engine alone: a cluster reads gps and cdr"
        ):
            lab.ingest(files, kind="wifi")
        with pytest.raises(IngestError, match="write the frame to Parquet first"):
            lab.ingest(pl.DataFrame({"uid": [1]}))
        with pytest.raises(ReleaseError, match="the lab holds no records"):
            lab.release()
        lab.ingest(files / "a.parquet", tz="UTC")
        for refused in ({"group": ("home:h3:6", "x")}, {"population": "p1"}):
            with pytest.raises(LabError, match="a release of a group or population is made by the embedded engine"):
                lab.release(**refused)
    with pytest.raises(LabError, match="lab has 2 shards, which cannot change: leave out shards=3"):
        open_shards(tmp_path / "lab", 3)


@pytest.fixture
def on_shards(monkeypatch) -> None:
    """The command line's own cluster, without Spark."""
    monkeypatch.setattr(spark, "refuse_without_pyspark", lambda: None)
    monkeypatch.setattr(spark, "start_session", lambda master: master)
    monkeypatch.setattr(spark, "Spark", lambda session: Local())


def said(capsys, *words: object, code: int = 0) -> str:
    assert main([str(word) for word in words]) == code
    return capsys.readouterr()[1 if code else 0]


def test_the_whole_flow_on_shards_from_the_shell(on_shards, files, tmp_path, capsys):
    lab, cluster = tmp_path / "lab", ["--engine", "spark", "--master", "local[2]"]
    said(capsys, *cluster, "--shards", 3, "ingest", lab, files / "a.parquet", "--tz", "UTC", "--quiet")
    zones = Path(__file__).parent.parent / "fixtures" / "tiny" / "zones.geojson"
    assert "2 zones read" in said(capsys, *cluster, "geography", lab, "--zones", zones, "--quiet")
    said(capsys, *cluster, "release", lab, "--slot", "2h", "--index", "square:2000", "--memory-limit", "1GB", "--quiet")
    counted = "select count(*) as n from counts.release"
    assert said(capsys, "--engine", "spark", "sql", lab, counted, "--format", "csv") == "n\n1\n"
    found = said(capsys, *cluster, "risk", lab, "points:2", "--quiet")
    assert "points:2" in found
    assert said(capsys, "risk", lab, "points:2", "--quiet") == found  # the embedded engine, over the same folder
    (tmp_path / "leaks.toml").write_text(POLICY)
    assert main([*map(str, [*cluster, "decide", lab, "--policy", tmp_path / "leaks.toml", "--quiet"])]) == 1
    assert "fail: do not publish" in capsys.readouterr().out
    assert "lab has 3 shards" in said(
        capsys, *cluster, "--shards", 4, "ingest", lab, files / "b.csv", "--quiet", code=2
    )


def test_a_failed_ingest_leaves_no_new_folder(on_shards, tmp_path, capsys):
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    words = ["--engine", "spark", "--master", "local[2]", "ingest", tmp_path / "lab", tmp_path / "bad.csv", "--quiet"]
    assert "bad.csv" in said(capsys, *words, code=2)
    assert not (tmp_path / "lab").exists()


def test_a_cut_off_first_ingest_keeps_what_is_finished(files, tmp_path):
    with pytest.raises(KeyboardInterrupt), open_shards(tmp_path / "lab", 2, CutOff(2)) as lab:
        try:
            lab.ingest(files / "a.parquet", tz="UTC")
        except BaseException:
            lab._store.take_back()
            raise
    assert list((tmp_path / "lab").glob("work/*/read.json"))


def test_a_cluster_lab_goes_on_embedded_in_one_line(files, tmp_path):
    lab = open_shards(tmp_path / "lab", 2)
    lab.ingest(files / "a.parquet", tz="UTC")
    release = lab.release(index="square:2000", slot="2h")
    with lab.embedded(threads=1) as here:
        assert here.risk(release, "points:2").people == 10
        assert here.embedded() is here
    with open_shards(tmp_path / "lab") as again:
        assert len(again.table("metrics.anonymity")) == 10


def test_rows_are_sent_to_shards_by_tasks_or_by_the_engine_alike(files, tmp_path):
    """What Spark does with few files, and what `Local` does in one go."""
    one, other = tmp_path / "one", tmp_path / "other"
    pl.DataFrame({"shard": [0, 2, 2], "n": [1, 2, 3]}).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"shard": [2, 1], "n": [4, 5]}).write_parquet(tmp_path / "b.parquet")
    sent = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    Local().spread(sent, "shard", one, 3)
    for number in (0, 1, 1):  # one of them is run twice
        SendPart(tuple(sent), "shard", other)(number)
    for part in ("shard=0", "shard=1", "shard=2"):
        rows = [pl.read_parquet(folder / part / "*.parquet").select("n").sort("n") for folder in (one, other)]
        assert_frame_equal(*rows)
    assert not list(other.glob("*.unfinished"))


def test_the_plan_is_the_formula():
    plan = Plan(people=100_000_000, days=365, cores=1000)
    assert plan.rows == 100_000_000 * 365 * 48
    assert plan.shards == MOST_SHARDS
    assert plan.shuffled_bytes == plan.rows * 25 + 100_000_000 * 120
    assert plan.disk_bytes == plan.rows * (25 + 25 + 4)
    assert plan.processor_seconds == pytest.approx(START_SECONDS + plan.rows * RECORD_SECONDS + MOST_SHARDS * JOBS * TASK_SECONDS)  # fmt: skip
    assert plan.seconds == pytest.approx(START_SECONDS + (plan.processor_seconds - START_SECONDS) / 1000)
    assert "the most that a lab takes: each has to spill, 2.1 GB for 2 GB of memory" in str(plan)
    small = Plan(people=1000, days=7, cores=4)
    assert (small.shards, small.task_bytes) == (8, 1000 * 7 * 48 * 120 / 8)  # two for each core
    middle = Plan(people=1_000_000, days=30, cores=4, memory=1)
    assert middle.shards == 173  # 1.44 billion records of 120 bytes, 1 GB at a time
    assert middle.task_bytes <= 1e9


@given(people=st.integers(1, 10**9), days=st.integers(1, 1000), cores=st.integers(1, 10_000))
@examples(max_examples=50, deadline=None)
def test_more_people_cost_more_and_more_cores_take_no_longer(people, days, cores):
    plan = Plan(people, days, cores=cores)
    twice = Plan(2 * people, days, cores=cores)
    assert twice.processor_seconds > plan.processor_seconds
    assert twice.shards >= plan.shards
    assert plan.task_bytes <= 2.02e9 or plan.shards == MOST_SHARDS
    assert 0 <= plan.overhead <= 1


def test_a_plan_from_the_shell(capsys):
    text = said(capsys, "plan", "--people", 10**6, "--days", 30, "--cores", 100, "--memory", 4)
    assert re.match(r"records +1,440,000,000\nshards +200\nmemory of a task +864 MB, beside Spark's own\n", text)
    assert re.search(
        r"^sent to shards +36.1 GB\non disk +77.8 GB with one release\npoints:4 +6.4 GB of what is known are read,",
        text,
        re.MULTILINE,
    )
    for words in (["--people", 0, "--days", 1], ["--people", 1, "--days", 1, "--memory", "nan"]):
        assert " must be more than 0, and less than 10^15, not " in said(capsys, "plan", *words, code=2)


def test_what_spark_needs_is_said_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(LabError, match="needs pyspark, which is not installed: pip install 'trajlab\\[spark\\]'"):
        tl.open(tmp_path / "lab", engine="spark")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: True)
    with pytest.raises(LabError, match="needs a Spark session"):
        tl.open(tmp_path / "lab", engine="spark")
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(LabError, match="needs Java 17 or newer, which was not found"):
        spark.start_session("local[2]")
    assert not (tmp_path / "lab").exists()


class FullDisk:
    def __call__(self, number: int) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", "/secret/path")


def test_a_full_disk_of_a_worker_is_one_line():
    found = spark.run_one(pickle.dumps(FullDisk()), 0, "building slots.position")
    assert isinstance(found, LabError)
    assert str(found).startswith("building slots.position: the disk of a worker is full; nothing of this table is read")
    assert "secret" not in str(found)


def test_the_large_tables_are_tables_of_the_lab():
    assert set(LARGE) <= set(TABLES)
