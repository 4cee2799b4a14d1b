"""A lab that the version before made opens: its tables are read or rebuilt, and nothing in it is lost."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import polars as pl
import pytest
from conftest import ROOT
from polars.testing import assert_frame_equal

import trajlab as tl
from trajlab import schema
from trajlab.query import catalogue

OLDER = ROOT / "fixtures" / "older"


@pytest.fixture(scope="module")
def older_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("older") / "lab.duckdb"
    with duckdb.connect(str(file)) as con:
        con.execute("set TimeZone = 'UTC'")
        con.execute((OLDER / "schema.sql").read_text(encoding="utf-8"))
        for rows in sorted(OLDER.glob("*.csv")):
            con.execute(f"copy {rows.stem} from '{rows}' (format csv, header, allow_quoted_nulls false)")
    return file


@pytest.fixture
def older(older_file: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(older_file, tmp_path / "lab.duckdb"))


def test_nothing_that_the_older_lab_holds_is_lost(older, older_file):
    with duckdb.connect(str(older_file), read_only=True) as con, tl.open(older) as lab:
        tables = [name for (name,) in con.execute(
            "select schema_name || '.' || table_name from duckdb_tables() order by all"
        ).fetchall()]  # fmt: skip
        stored = [name for name in tables if name in catalogue() and not catalogue()[name].view]
        assert len(stored) > 40
        for name in stored:
            new_names = schema.RENAMED.get(name, {})
            before = con.sql(f"from {name}").pl().rename(new_names)
            now = lab._store.frame(f"from {name}")
            both = [column for column in before.columns if column in now.columns]
            assert len(before) == len(now), name
            if name != "study.lab":
                assert_frame_equal(
                    before.select(pl.col(each).cast(now.schema[each]) for each in both), now.select(both)
                )


@pytest.mark.parametrize("read_only", [False, True])
def test_the_older_lab_answers_as_before_and_goes_on(older, read_only):
    with tl.open(older, read_only=read_only) as lab:
        (release_id,) = lab.table("report.summary")["release_id"].unique()
        assert lab.published(release_id).people == 6
        assert len(lab.table("report.every_metric")) > 0
        for query in catalogue().values():
            if query.kind != "macro":
                lab.table(query.table)
        if not read_only:
            run = lab.attack(release_id, "stay")
            assert run.people == 6
            assert lab.risk(release_id, "points:2").people == 6


def test_a_view_that_nobody_reads_any_more_is_dropped(older):
    name = schema.REMOVED_VIEWS[0]
    with duckdb.connect(str(older)) as con:
        con.execute(f"create or replace view {name} as select 1 as gone")
    with tl.open(older) as lab:
        left = lab.sql("select schema_name || '.' || view_name as name from duckdb_views() where not internal")
        assert name not in left["name"].to_list()
        assert "report.people_by_cell" in left["name"].to_list()


def test_the_page_of_the_older_lab_is_written(older, tmp_path):
    with tl.open(older) as lab:
        page = lab.report(tmp_path / "report.html")
    assert "xu2017" in page.read_text(encoding="utf-8")


def test_a_release_of_the_older_lab_is_known_as_unprotected(older):
    with tl.open(older) as lab:
        (release_id,) = lab.table("report.summary")["release_id"].unique()
        assert lab.table("study.release")["unprotected_id"].to_list() == [release_id]
        assert lab.published(release_id).recipe == ()
        assert lab.release("square:1000", "3h", protect="suppress:2").recipe == ("suppress:2",)
