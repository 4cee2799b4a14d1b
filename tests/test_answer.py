"""Answers to SQL: whole and in blocks, in every form, and what frames cannot hold."""

from __future__ import annotations

import datetime as dt
import json

import polars as pl
import pytest
from conftest import tiny_lab

import trajlab as tl
from trajlab import answer
from trajlab.cli import main
from trajlab.cli.terminal import show, show_blocks
from trajlab.errors import QueryError

BEYOND = [
    ("select timestamp 'infinity' as at", "at"),
    ("select timestamptz '-infinity' as at", "at"),
    ("select date '290000-01-01' as at", "at"),
    ("select 1 as n, [null, [timestamp 'infinity']] as at", "at"),
    ("select {'in': timestamp_ns '1700-01-01', 'out': date '-infinity'} as at", "at"),
    ("select map {'in': timestamp_s '20000-01-01'} as at", "at"),
    ("select timestamp_ms '10000-01-01' as at from range(3)", "at"),
]


@pytest.fixture(scope="module")
def town():
    with tiny_lab() as lab:
        yield lab


@pytest.mark.parametrize(("query", "column"), BEYOND)
def test_times_that_frames_cannot_hold_are_refused(town, query, column):
    told = f"your query: column '{column}' has times before the year 1 or after 9999, which frames cannot hold: cast it"
    with pytest.raises(QueryError, match=told):
        town.sql(query)
    with pytest.raises(QueryError, match=told):
        list(answer.blocks(town._store, query, {}))


def test_the_first_and_the_last_time_of_the_calendar_are_held(town):
    frame = town.sql(
        "select date '0001-01-01' as first, timestamp '9999-12-31 23:59:59.999999' as last, null::date as none, "
        "[]::date[] as many, null::timestamp[] as nothing"
    )
    assert frame.row(0)[:3] == (dt.date(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999_999), None)


@pytest.mark.parametrize("query", ["select timestamp 'infinity'", "select date '290000-01-01'"])
def test_the_command_says_so_in_one_line(tmp_path, capsys, query):
    tl.open(tmp_path / "lab.duckdb").close()
    for form in ("table", "csv", "json"):
        assert main(["sql", str(tmp_path / "lab.duckdb"), query, "--format", form]) == 2
        err = capsys.readouterr().err
        assert err.startswith("trajlab: your query: column")
        assert err.count("\n") == 1


@pytest.mark.parametrize(
    "query",
    [
        "select interval 1 month",
        "select [{'in': interval 1 month}] where false",
        "select cast('x' || range as int) from range(9)",
    ],
)
def test_a_query_that_fails_in_the_middle_is_refused_in_blocks_too(town, query):
    with pytest.raises(QueryError, match="a type that frames cannot hold|Conversion Error"):
        list(answer.blocks(town._store, query, {}))


def test_blocks_are_the_whole_and_hold_no_more_than_was_asked_for(town, monkeypatch):
    monkeypatch.setattr(answer, "BLOCK", 2048)
    query = "select range as n, range::varchar as told from range(10000)"
    blocks = list(answer.blocks(town._store, query, {}))
    assert len(blocks) > 3
    assert max(map(len, blocks)) <= 2048
    assert pl.concat(blocks).equals(town.sql(query))
    (nothing,) = answer.blocks(town._store, "select 1 as n, [2] as many where false", {})
    assert nothing.schema == town.sql("select 1 as n, [2] as many").schema


@pytest.mark.parametrize("rows", [-1, 0, 1, 2, 5, 8, 40, 100])
@pytest.mark.parametrize("form", ["table", "csv", "json"])
@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 41, 60])
def test_a_frame_in_blocks_is_shown_as_if_it_came_at_once(capsys, length, form, rows):
    frame = pl.DataFrame(
        {"n": range(length), "told": [f"é,{n}" for n in range(length)]}, schema={"n": pl.Int64, "told": pl.String}
    )
    show(frame, form, rows)
    whole = capsys.readouterr().out
    show_blocks((frame[at : at + 8] for at in range(0, max(length, 1), 8)), form, rows)
    assert capsys.readouterr().out == whole
    if form == "json":
        assert json.loads(whole) == frame.to_dicts()
    elif form == "csv":
        assert whole == frame.write_csv()
    else:
        with pl.Config(
            tbl_rows=rows, tbl_cols=-1, tbl_hide_column_data_types=True, tbl_width_chars=160, fmt_str_lengths=60
        ):
            assert whole == f"{frame}\n"
