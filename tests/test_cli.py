from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from conftest import TINY, tiny_lab

import trajlab as tl
from trajlab.cli import main

BOX = ["--box", "-9.168738", "38.697476", "-9.111244", "38.742517"]


@pytest.fixture
def lab_file(tmp_path) -> Path:
    with tiny_lab(tmp_path / "lab.duckdb") as lab:
        lab.release(index="square:1000", slot="3h")
    return tmp_path / "lab.duckdb"


def said(capsys, *words: object, code: int = 0) -> str:
    assert main([str(word) for word in words]) == code
    out, err = capsys.readouterr()
    assert err.count("\n") == (1 if code else 0), err
    return err if code else out


def test_the_whole_flow_from_the_shell(tmp_path, capsys):
    lab = tmp_path / "lab.duckdb"
    assert "85 rows read, 82 kept" in said(capsys, "ingest", lab, TINY / "records.csv", "--tz", "Europe/Lisbon")
    assert "2 zones read" in said(capsys, "geography", lab, "--zones", TINY / "zones.geojson")
    released = said(capsys, "release", lab, "--index", "square:1000", "--slot", "3h", *BOX)
    assert re.search(r"^people +6$", released, re.MULTILINE)
    suppressed = said(capsys, "release", lab, "--index", "square:1000", "--slot", "3h", "--min-count", 2, *BOX)
    assert re.search(r"^hidden +0.3854$", suppressed, re.MULTILINE)
    assert said(capsys, "sql", lab, "select count(*) as n from counts.release", "--format", "csv") == "n\n2\n"
    assert str(tmp_path / "report.html") in said(capsys, "report", lab, "-o", tmp_path / "report.html")
    assert "<html" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_ingesting_twice_adds_nothing(lab_file, capsys):
    said(capsys, "ingest", lab_file, TINY / "records.csv", "--tz", "Europe/Lisbon")
    assert said(capsys, "sql", lab_file, "select count(*) as n from records.fix", "--format", "csv") == "n\n82\n"


def test_publishable_export_holds_nobodys_trace(lab_file, tmp_path, capsys):
    said(capsys, "export", lab_file, tmp_path / "all")
    said(capsys, "export", lab_file, tmp_path / "public", "--publishable", "--format", "csv")
    everything = {file.stem for file in (tmp_path / "all").iterdir()}
    public = {file.stem for file in (tmp_path / "public").glob("*.csv")}
    assert public == {"counts.release", "counts.occupancy", "counts.flow", "grid.index", "grid.cell", "slots.slot"}
    assert public < everything
    assert {file.name for file in (tmp_path / "public").iterdir() if file.suffix != ".csv"} == {"datapackage.json"}
    assert not re.search(r"\b(ana|emil|records\.csv)\b", (tmp_path / "public" / "datapackage.json").read_text())
    for file in (tmp_path / "public").glob("*.csv"):
        frame = pl.read_csv(file, infer_schema=False)
        assert {"person", "uid", "source_row"}.isdisjoint(frame.columns)
        assert not any(name in file.read_text() for name in ("ana", "emil", "records.csv"))


def test_a_publishable_export_hides_cells_whose_counts_were_left_out(tmp_path):
    with tiny_lab() as lab:
        lab.release(index="square:1000", slot="3h", min_count=3)
        lab.export(tmp_path / "public", publishable=True, form="csv")
        everything = lab.sql("select count(*) from grid.cell").item()
    cells = pl.read_csv(tmp_path / "public" / "grid.cell.csv")
    counts = pl.read_csv(tmp_path / "public" / "counts.occupancy.csv")
    assert set(cells["cell"]) == set(counts["cell"])
    assert len(cells) < everything


def test_an_export_overwrites_nothing(lab_file, tmp_path, capsys):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "mine.txt").write_text("mine")
    assert "is not an empty folder: choose a new one" in said(capsys, "export", lab_file, tmp_path / "there", code=2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["sql", "{lab}", "drop table records.fix"], "one SELECT at a time"),
        (["sql", "{lab}", "select * from nowhere"], "nowhere"),
        (["sql", "{lab}", "select 1", "--param", "nonsense"], "--param takes name=value, not 'nonsense'"),
        (["sql", "nowhere.duckdb", "select 1"], "nowhere.duckdb: no such lab; `trajlab ingest nowhere.duckdb FILE` makes one"),
        (["release", "{lab}", "--slot", "7min"], "does not divide a day"),
        (["release", "{lab}", "--index", "circle:3"], "no spatial index named 'circle'"),
        (["describe", "counts.nope"], "no table named 'counts.nope'"),
        (["export", "{lab}", "out", "--format", "xls"], "no format named 'xls'; there are: csv, multimno, parquet"),
        (["ingest", "{lab}", "no_such_file.csv"], "no_such_file.csv"),
        (["ingest", "{lab}", "x.csv", "--column", "uid"], "--column takes name=value"),
        (["simulate", "x.parquet", "--people", "0"], "people"),
        (["simulate", "x.parquet", "--mode", "walk"], "walk"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_on_stderr_and_exit_code_2(words, message, lab_file, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = said(capsys, *[word.format(lab=lab_file) for word in words], code=2)
    assert text.startswith("trajlab: ")
    assert message in text


def test_sql_takes_values_by_name(lab_file, capsys):
    out = said(
        capsys,
        "sql",
        lab_file,
        "select uid from records.person where uid = $who",
        "--param",
        "who=emil",
        "--format",
        "json",
    )
    assert out.strip() == '[{"uid":"emil"}]'


def test_describe_says_what_a_table_holds(capsys):
    text = said(capsys, "describe", "counts.occupancy")
    assert text.startswith("counts.occupancy: how many people are in each cell during each slot.\n")
    assert "one row per release_id, slot, cell; built from slots.position" in text
    assert "  people      BIGINT   distinct people in the cell during the slot" in text
    assert "report.summary" in said(capsys, "describe")


@pytest.mark.parametrize("mode", ["gps", "cdr", "campus"])
def test_simulated_files_can_be_ingested(mode, tmp_path, capsys):
    file = tmp_path / "city.csv"
    said(capsys, "simulate", file, "--mode", mode, "--people", 20, "--days", 2)
    lab = tmp_path / "lab.duckdb"
    kind = {"gps": ["gps"], "cdr": ["cdr", "--stations", tmp_path / "city_stations.csv"],
            "campus": ["wifi", "--places", tmp_path / "city_places.csv"]}[mode]  # fmt: skip
    assert " 0 kept" not in said(capsys, "ingest", lab, file, "--tz", "Europe/Lisbon", "--kind", *kind)
    index = {"gps": "h3:8", "cdr": "stations:800", "campus": "places"}[mode]
    people = pl.read_csv(file)["uid"].n_unique()
    assert re.search(rf"^people +{people}$", said(capsys, "release", lab, "--index", index), re.MULTILINE)


def test_the_demo_writes_a_lab_and_a_report_and_can_be_run_again(tmp_path, capsys):
    for _ in range(2):
        out = said(capsys, "demo", tmp_path / "demo", "--people", 30, "--days", 2)
        assert "published" in out
        assert "singled out of 30 people: top:2 " in out
        assert "The report:" in out
    with tl.open(tmp_path / "demo" / "lab.duckdb", read_only=True) as lab:
        names = lab.sql("select index_name from report.summary")["index_name"]
        assert {name.partition(":")[0] for name in names} == {"square", "h3", "stations"}
    assert (tmp_path / "demo" / "report.html").stat().st_size > 10_000
    assert "may be published: fail: do not publish (open-data: " in out
    assert (
        main(["verify", str(tmp_path / "demo" / "decision.json"), "--lab", str(tmp_path / "demo" / "lab.duckdb")]) == 0
    )


def test_the_demo_never_overwrites_a_lab_of_yours(tmp_path, capsys):
    (tmp_path / "demo").mkdir()
    tiny_lab(tmp_path / "demo" / "lab.duckdb").close()
    assert "holds records that are not a demo's: choose another folder" in said(
        capsys, "demo", tmp_path / "demo", code=2
    )


def test_help_teaches_the_flow(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    order = [text.index(f"    {name} ") for name in ("simulate", "ingest", "release", "sql", "report")]
    assert order == sorted(order)
    assert "trajlab ingest lab.duckdb traces.parquet" in text


def test_import_pulls_in_nothing_heavy():
    code = "import sys, trajlab; print([m for m in ('duckdb', 'polars', 'numpy', 'shapely', 'h3', 'scipy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_python_dash_m_is_the_command():
    done = subprocess.run([sys.executable, "-m", "trajlab", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"trajlab {tl.__version__}"


def test_a_failed_ingest_leaves_no_new_lab(tmp_path, capsys):
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    said(capsys, "ingest", tmp_path / "new.duckdb", tmp_path / "bad.csv", code=2)
    assert not (tmp_path / "new.duckdb").exists()
    assert "no such lab" in said(capsys, "release", tmp_path / "typo.duckdb", code=2)
    assert not (tmp_path / "typo.duckdb").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["export", "{lab}", "{lab}"], "is not an empty folder"),
        (["export", "{lab}", "{lab}/below"], "cannot be made"),
        (["demo", "{lab}"], "cannot be made"),
        (["report", "{lab}", "-o", "."], "is a folder: name the file to write"),
        (["geography", "{lab}"], "nothing to load: give stations, places or zones"),
        (["sql", "{lab}", "select [1, 2] as n", "--format", "csv"], "CSV cannot hold the lists of column 'n'"),
        (["ingest", "{lab}", "x.csv", "--tz", "europe/lisbon"], "did you mean 'Europe/Lisbon'?"),
    ],
)
def test_more_mistakes_are_one_line_each(words, message, lab_file, capsys):
    assert message in said(capsys, *[word.format(lab=lab_file) for word in words], code=2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--engine", "spark", "--master", "local[2]", "attack", "lab", "shuffle"],
         "attack does not run on a cluster, where there are ingest, release, risk; the embedded engine does the rest"),
        (["--engine", "spark", "schedule", "lab", "found"],
         "over the same folder: lab.embedded(), or the command without --engine spark"),
        (["--engine", "spark", "study", "tradeoff", "{lab}"], "study tradeoff does not run on a cluster"),
        (["--engine", "spark", "simulate", "x.parquet"], "simulate does not run on a cluster"),
        (["--engine", "spark", "ingest", "new", "x.csv"],
         "--engine spark needs --master, such as spark://host:7077, or local[2] to try it here"),
        (["--engine", "spark", "ingest", "new", "x.csv", "--threads", "2"],
         "--threads is for the embedded engine: on a cluster every task has one"),
        (["--engine", "spark", "--master", "local[2]", "release", "{lab}"], "lab.duckdb is not a cluster lab"),
        (["--engine", "spark", "sql", "{lab}", "select 1"], "lab.duckdb is not a cluster lab"),
        (["--master", "local[2]", "ingest", "{lab}", "x.csv"], "--master and --shards go with --engine spark"),
        (["--shards", "3", "ingest", "{lab}", "x.csv"], "--master and --shards go with --engine spark"),
        (["--engine", "sparc", "sql", "{lab}", "select 1"], "no engine named 'sparc'; there are: duckdb"),
    ],
)  # fmt: skip
def test_what_a_cluster_cannot_do_is_said_before_anything_starts(
    words, message, lab_file, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert message in said(capsys, *[word.format(lab=lab_file) for word in words], code=2)
    assert not (tmp_path / "new").exists()


def test_options_of_the_engine_stand_before_commands_of_one_or_two_words(lab_file, capsys):
    counted = ["sql", lab_file, "select count(*) as n from counts.release", "--format", "csv"]
    assert said(capsys, "--engine", "duckdb", *counted) == "n\n1\n"
    with pytest.raises(SystemExit):
        main(["--engine", "duckdb", "study", "tradeoff", "--help"])
    assert "usage: trajlab study tradeoff" in capsys.readouterr().out


def test_a_terminal_without_unicode_is_served_too(lab_file):
    command = [sys.executable, "-m", "trajlab", "sql", str(lab_file), "select 'é' as e"]
    done = subprocess.run(command, capture_output=True, env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
