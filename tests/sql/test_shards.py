"""What `shards by:` promises: a file run on shards by that key and united gives the rows of the file run whole.

A shard has the rows of a part of the keys, of every relation read that has the key as a column, and all
rows of the others. `none` promises nothing: such a file needs everything at once. Beside it, a law of all files:
the order in which rows lie changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import pytest
from conftest import MANY
from test_contracts import SELECTS, WEEKLY, by_table, values_of

import trajlab as tl
from trajlab.query import Query, catalogue

SHARDED = [query for query in SELECTS if query.shards_by != "none"]


@pytest.mark.parametrize("query", SELECTS, ids=by_table)
def test_the_header_says_what_a_shard_is(query):
    columns = {column.name for table in query.reads for column in catalogue()[table].columns}
    assert query.shards_by == "none" or query.shards_by in columns, query.table


@pytest.mark.parametrize("shards", [2, 7] if MANY else [3])
@pytest.mark.parametrize("query", SHARDED, ids=by_table)
def test_shards_united_are_the_whole(query, shards, town, term):
    lab = term if query.table in WEEKLY else town
    for values in values_of(query, lab):
        assert rows_in_shards(lab, query, values, shards) == rows(lab, query.select, query, values)


@pytest.mark.parametrize("query", SELECTS, ids=by_table)
def test_the_order_of_rows_changes_nothing(query, town, term):
    lab = term if query.table in WEEKLY else town
    for values in values_of(query, lab):
        with lab._store.rehearsal("another order"):
            select = _over(lab, query, lambda table: f"select t.* from {table} as t order by md5(t::varchar)")
            assert rows(lab, select, query, values) == rows(lab, query.select, query, values)


def rows(lab: tl.Lab, select: str, query: Query, values: dict[str, object]) -> list[tuple[object, ...]]:
    used = {name: values[name] for name in query.params}
    return sorted(map(_rounded, lab._store.engine.rows(select, used)), key=repr)


def rows_in_shards(lab: tl.Lab, query: Query, values: dict[str, object], shards: int) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for shard in range(shards):
        with lab._store.rehearsal("one shard"):
            found += rows(lab, _over(lab, query, partial(_of_shard, query.shards_by, shards, shard)), query, values)
    return sorted(found, key=repr)


def _of_shard(key: str, shards: int, shard: int, table: str) -> str:
    has_key = key in {column.name for column in catalogue()[table].columns}
    return f"select * from {table} " + (f'where hash("{key}") % {shards} = {shard}' if has_key else "")


def _over(lab: tl.Lab, query: Query, given: Callable[[str], str]) -> str:
    """The file's SELECT over tables that have these rows."""
    select = query.select
    for table in query.reads:
        schema, _, name = table.partition(".")
        lab._store.engine.execute(f"create schema if not exists given_{schema}")
        lab._store.engine.execute(f"create table given_{table} as {given(table)}")
        select = re.sub(rf"\b{schema}\.{name}\b", f"given_{schema}.{name}", select)
    return select


def _rounded(row: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(float(f"{value:.9g}") if isinstance(value, float) else value for value in row)
