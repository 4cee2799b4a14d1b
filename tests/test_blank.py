"""A lab that is copied from the blank one is the lab that the statements make."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import duckdb
import pytest
from conftest import ingest_tiny, tiny_lab

import trajlab as tl
from trajlab import blank, schema

DESCRIBED = {
    "schemas": "select schema_name, comment from duckdb_schemas()",
    "tables": "select schema_name, table_name, sql, comment from duckdb_tables()",
    "views": "select schema_name, view_name, sql, comment from duckdb_views()",
    "columns": "select schema_name, table_name, column_index, column_name, data_type, comment from duckdb_columns()",
    "functions": "select schema_name, function_name, parameters, macro_definition from duckdb_functions()",
}


def described(file: Path, what: str) -> list[str]:
    """All that the file says of its relations; the engine writes the names after EXCLUDE in any order."""
    with duckdb.connect(str(file), read_only=True) as con:
        rows = con.execute(f"{DESCRIBED[what]} where not internal and database_name = '{file.stem}'").fetchall()
    in_order = re.compile(r"EXCLUDE \(([^)]*)\)")
    return sorted(in_order.sub(lambda found: str(sorted(found[1].split(", "))), str(row)) for row in rows)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A lab made by its statements, and two after the blank one: the first of them had to write it."""
    folder = tmp_path_factory.mktemp("blank")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(blank.VARIABLE, "")
        tl.open(folder / "stated.duckdb").close()
        patch.setenv(blank.VARIABLE, str(folder / "cache"))
        tl.open(folder / "first.duckdb").close()
        patch.setattr(schema, "_create_relations", lambda _: pytest.fail("made by statements"))
        tl.open(folder / "second.duckdb").close()
    return folder


@pytest.mark.parametrize("what", DESCRIBED)
def test_every_relation_and_every_word_about_it_is_there(files, what):
    stated = described(files / "stated.duckdb", what)
    assert len(stated) > 6
    assert described(files / "first.duckdb", what) == stated
    assert described(files / "second.duckdb", what) == stated


def test_the_lab_says_who_made_it(files):
    said = [tl.open(files / f"{name}.duckdb").table("study.lab").rows() for name in ("stated", "second")]
    assert said[0] == said[1]
    assert len(said[0]) == 1


def test_left_empty_the_variable_keeps_nothing_and_the_lab_is_the_same(monkeypatch):
    monkeypatch.setenv(blank.VARIABLE, "")
    monkeypatch.setattr(blank, "_write", lambda *_: pytest.fail("kept though it must not be"))
    assert len(ingest_tiny().table("records.person")) == 6


def test_without_the_variable_one_is_kept_beside_the_compiled_modules(tmp_path, monkeypatch):
    monkeypatch.delenv(blank.VARIABLE)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(schema, "_create_relations", lambda engine: engine.execute("create schema study"))
    folder = blank.folder()
    folder.mkdir(parents=True)
    (folder / "blank-older.duckdb").touch()
    (folder / "blank.cpython-311.pyc").touch()
    tl.open().close()
    kept = [path.name for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(kept) == [f"blank-{schema._version()}.duckdb", "blank.cpython-311.pyc"]


def test_none_is_kept_where_python_keeps_no_compiled_modules(tmp_path, monkeypatch):
    monkeypatch.delenv(blank.VARIABLE)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert blank.folder() is None


def test_the_name_of_the_blank_lab_follows_every_word(monkeypatch):
    before = schema._version()
    table, query = next(iter(schema.catalogue().items()))
    other = type(query)(**{**{name: getattr(query, name) for name in query.__slots__}, "summary": "something else"})
    monkeypatch.setattr(schema, "catalogue", lambda: {table: other})
    assert schema._version() != before


@pytest.mark.parametrize("trouble", ["damaged", "a file instead of the folder", "no lab"])
def test_a_blank_lab_that_cannot_be_used_is_done_without(tmp_path, monkeypatch, trouble):
    cache = tmp_path / "cache"
    if trouble == "a file instead of the folder":
        cache.write_text("no folder")
    else:
        cache.mkdir()
        file = cache / f"blank-{schema._version()}.duckdb"
        if trouble == "damaged":
            file.write_bytes(b"not a database" * 1000)
        else:
            duckdb.connect(str(file)).close()
    monkeypatch.setenv(blank.VARIABLE, str(cache))
    with ingest_tiny(tmp_path / "lab.duckdb") as lab:
        assert len(lab.table("records.person")) == 6


def test_a_blank_lab_appears_whole_or_not_at_all(tmp_path, monkeypatch):
    monkeypatch.setenv(blank.VARIABLE, str(tmp_path))

    def killed(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(schema, "_create_relations", killed)
    with pytest.raises(KeyboardInterrupt):
        tl.open()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", [":memory:", "lab.duckdb"])
def test_the_tiny_town_that_tests_copy_is_the_one_that_is_ingested(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    copied, ingested = tiny_lab(path), ingest_tiny()
    tables = [table for table, query in schema.catalogue().items() if query.kind in ("table", "written")]
    for table in tables:
        rows = f"select * from {table} order by all"
        assert copied.sql(rows).equals(ingested.sql(rows), null_equal=True), table
    assert copied.sql("select count(*) from records.fix").item() == 82
