"""What `shards by:` promises: a file run on shards by that key and united gives the rows of the file run whole.

A shard has the rows of a part of the keys, of every relation read that has the key as a column, and all
rows of the others. `none` promises nothing: such a file needs everything at once.
"""

from __future__ import annotations

import re

import pytest
from test_contracts import SELECTS, WEEKLY, by_table, values_of

import trajlab as tl
from trajlab.query import Query, catalogue

SHARDS = 3
SHARDED = [query for query in SELECTS if query.shards_by != "none"]


@pytest.mark.parametrize("query", SELECTS, ids=by_table)
def test_the_header_says_what_a_shard_is(query):
    columns = {column.name for table in query.reads for column in catalogue()[table].columns}
    assert query.shards_by == "none" or query.shards_by in columns, query.table


@pytest.mark.parametrize("query", SHARDED, ids=by_table)
def test_shards_united_are_the_whole(query, town, term):
    lab = term if query.table in WEEKLY else town
    for values in values_of(query, lab):
        assert rows_in_shards(lab, query, values, query.shards_by) == rows(lab, query.select, query, values)


def rows(lab: tl.Lab, select: str, query: Query, values: dict[str, object]) -> list[tuple[object, ...]]:
    used = {name: values[name] for name in query.params}
    return sorted(map(_rounded, lab._store.engine.rows(select, used)), key=repr)


def rows_in_shards(lab: tl.Lab, query: Query, values: dict[str, object], key: str) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for shard in range(SHARDS):
        with lab._store.rehearsal("one shard"):
            found += rows(lab, _on_shard(lab, query, key, shard), query, values)
    return sorted(found, key=repr)


def _on_shard(lab: tl.Lab, query: Query, key: str, shard: int) -> str:
    """The file's SELECT over views that have the rows of one shard."""
    select = query.select
    for table in query.reads:
        schema, _, name = table.partition(".")
        has_key = key in {column.name for column in catalogue()[table].columns}
        of_shard = f'where hash("{key}") % {SHARDS} = {shard}' if has_key else ""
        lab._store.engine.execute(f"create schema if not exists shard_{schema}")
        lab._store.engine.execute(f"create view shard_{table} as select * from {table} {of_shard}")
        select = re.sub(rf"\b{schema}\.{name}\b", f"shard_{schema}.{name}", select)
    return select


def _rounded(row: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(float(f"{value:.9g}") if isinstance(value, float) else value for value in row)
