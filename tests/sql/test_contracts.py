"""Three tests that every SQL file gets by existing: a true header, a golden result, a unique key."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import trajlab as tl
from trajlab.query import Query, catalogue
from trajlab.store import Store

FIXTURES = Path(__file__).parents[2] / "fixtures"
GOLDEN = FIXTURES / "tiny" / "golden"
VOLATILE = {"versions", "trajlab", "relations"}
TABLES = list(catalogue().values())
SELECTS = [query for query in TABLES if query.select]
WEEKLY = sorted(file.stem for file in (FIXTURES / "term" / "golden").glob("*.csv"))
"""Tables about schedules: two days of the tiny town are no weeks, the term has sixteen."""


VALUES = {
    "release_id": "select release_id from counts.release order by all",
    "run_id": "select run_id from study.run order by all",
    "risk_id": "select risk_id from study.risk order by all",
    "traces_id": "select traces_id from study.traces order by all",
    "leak_id": "select leak_id from study.leak order by all",
    "utility_id": "select utility_id from study.utility order by all",
    "tradeoff_id": "select tradeoff_id from study.tradeoff order by all",
    "pairing": "select distinct pairing from metrics.pair order by all",
    "person": "select person from records.person order by all",
    "examples": "select unnest([1, 3])",
}
"""What the parameters of a macro are given in these tests: everything that the lab has."""


def rows_of(lab: tl.Lab, query: Query) -> pl.DataFrame:
    """A relation whole: a macro's rows for every value of its parameters, which stand before them."""
    if query.kind != "macro":
        return lab.table(query.table)
    every = [lab.sql(VALUES[name]).to_series().to_list() for name in query.params]
    calls = [dict(zip(query.params, values, strict=True)) for values in itertools.product(*every)]
    empty = [pl.DataFrame(schema=[f"${name}" for name in query.params] + [c.name for c in query.columns])]
    made = [
        lab.table(query.table, **call).select(
            *(pl.lit(value).alias(f"${name}") for name, value in call.items()), pl.all()
        )
        for call in calls
    ]
    return pl.concat([frame for frame in made if len(frame)] or empty)


def by_table(query: Query) -> str:
    return query.table


@pytest.fixture(scope="module")
def empty() -> Iterator[Store]:
    store = Store()
    yield store
    store.close()


@pytest.mark.parametrize("query", SELECTS, ids=by_table)
def test_the_header_lists_the_parameters(query, empty):
    (statement,) = empty.con.extract_statements(query.select)
    assert set(statement.named_parameters) == set(query.params)


@pytest.mark.parametrize("query", SELECTS, ids=by_table)
def test_the_header_lists_the_tables_read(query, empty):
    tree = json.loads(empty.rows("select json_serialize_sql($q)", q=query.select)[0][0])
    assert not tree["error"], tree.get("error_message")
    assert {f"{schema}.{table}" for schema, table in _tables(tree) if schema} == set(query.reads)


@pytest.mark.parametrize("query", SELECTS, ids=by_table)
def test_the_header_lists_the_columns_with_their_types(query, empty):
    texts = ("release_id", "run_id", "traces_id", "known_id", "risk_id", "seed", "fill", "basis", "source",
             "leak_id", "schedule_id", "known_schedule_id", "searched_schedule_id", "searched_traces", "known_traces", "clock_id",
             "flows_id", "source_id", "od_id", "utility_id", "before_id", "after_id", "tradeoff_id",
             "about", "published_id", "pairing", "grouping_id", "group_value",
             "unprotected_id", "cube_id", "attribute", "weights", "population_id")  # fmt: skip
    params = {name: "x" if name in texts else 1 for name in query.params}
    found = empty.con.sql(query.select, params=params) if params else empty.con.sql(query.select)
    assert dict(zip(found.columns, map(str, found.types), strict=True)) == {
        c.name: _spelled(c.type) for c in query.columns
    }


@pytest.mark.parametrize("query", TABLES, ids=by_table)
def test_the_tiny_town_gives_the_golden_table(query, town):
    _compare(town, query, GOLDEN)


@pytest.mark.parametrize("name", WEEKLY)
def test_the_term_gives_the_golden_table(name, term):
    _compare(term, catalogue()[name], FIXTURES / "term" / "golden")


def _compare(lab: tl.Lab, query: Query, folder: Path) -> None:
    table = rows_of(lab, query)
    if not query.grain:
        table = table.sort(table.columns)
    text = table.drop(VOLATILE & set(table.columns))
    text = text.with_columns(pl.col(pl.Binary).bin.encode("hex")) if pl.Binary in text.dtypes else text
    file = folder / f"{query.table}.csv"
    if os.environ.get("TRAJLAB_WRITE_GOLDEN"):
        text.write_csv(file)
    golden = pl.read_csv(file, schema=pl.read_csv(text.write_csv().encode()).schema if len(text) else None)
    assert_frame_equal(pl.read_csv(text.write_csv().encode()), golden, check_dtypes=False, rel_tol=1e-9, abs_tol=1e-6)


@pytest.mark.parametrize("query", TABLES, ids=by_table)
def test_the_key_is_unique(query, town, term):
    for lab in (town, term) if query.table in WEEKLY else (town,):
        table = rows_of(lab, query)
        key = [*(f"${name}" for name in query.params if query.kind == "macro"), *query.grain]
        assert not query.grain or not table.select(key).is_duplicated().any()


@pytest.mark.parametrize("query", [query for query in TABLES if query.kind != "macro"], ids=by_table)
def test_the_database_carries_the_words_of_the_header(query, town):
    comments = town.sql(
        "select column_name, comment from duckdb_columns() where schema_name || '.' || table_name = $table",
        table=query.table,
    )
    assert dict(comments.iter_rows()) == {c.name: c.meaning for c in query.columns}


@pytest.mark.parametrize("query", SELECTS, ids=by_table)
def test_the_file_runs_as_it_stands_after_set_variable(query, town, term):
    """As in the DuckDB shell: no parameters are bound, `$name` is the session's variable."""
    if query.kind == "macro":
        _run_as_it_stands(query, term if query.table in WEEKLY else town)
        return
    weekly = query.table in WEEKLY
    con = (term if weekly else town)._store.con
    for values in _asked_of_term(query, term) if weekly else _asked(query, town):
        for name in query.params:
            con.execute(f"set variable {name} = $value", {"value": values[name]})
        key = ", ".join(query.grain)
        columns = ", ".join(c.name for c in query.columns)
        rows = con.execute(f"select {columns} from ({query.select}) order by {key}").fetchall()
        for name in query.params:
            con.execute(f"reset variable {name}")
        of_this = " and ".join(f"{name} = ${name}" for name in query.scope) or "true"
        scope = {name: values[name] for name in query.scope}
        stored = con.execute(f"select {columns} from {query.table} where {of_this} order by {key}", scope).fetchall()
        assert rows == stored, values


def _run_as_it_stands(query: Query, lab: tl.Lab) -> None:
    """A macro's file, its parameters set as variables, gives what a call of the macro gives."""
    con = lab._store.con
    every = [lab.sql(VALUES[name]).to_series().to_list() for name in query.params]
    for values in itertools.product(*every):
        for name, value in zip(query.params, values, strict=True):
            con.execute(f"set variable {name} = $value", {"value": value})
        columns = ", ".join(f'"{c.name}"' for c in query.columns)
        rows = con.execute(f"select {columns} from ({query.select}) order by all").fetchall()
        for name in query.params:
            con.execute(f"reset variable {name}")
        called = f"{query.table}({', '.join('?' for _ in values)})"
        assert rows == con.execute(f"select {columns} from {called} order by all", list(values)).fetchall()


def test_every_golden_table_belongs_to_a_sql_file():
    assert {file.stem for file in GOLDEN.glob("*.csv")} == set(catalogue())


def values_of(query: Query, lab: tl.Lab) -> list[dict[str, object]]:
    """Values of the parameters for everything that the lab has of the file."""
    if query.kind == "macro":
        every = [lab.sql(VALUES[name]).to_series().to_list() for name in query.params]
        return [dict(zip(query.params, values, strict=True)) for values in itertools.product(*every)]
    return _asked_of_term(query, lab) if query.table in WEEKLY else _asked(query, lab)


def _asked(query: Query, town: tl.Lab) -> list[dict[str, object]]:
    """Values of the parameters for everything that the town has built from the file."""
    (release_id, index_id), *_ = town.sql("select release_id, index_id from counts.release").iter_rows()
    ((run_id,),) = town.sql("select run_id from study.run where attack = 'xu2017'").iter_rows()
    values = {"run_id": run_id, "night_slots": 2, "release_id": release_id, "index_id": index_id, "tick_seconds": 900, "slots_per_day": 8, "slots": 16,
              "days": 2, "last_week": 0, "coverage": 0.0, "people": None, "seed": "0", "fill": "static",
              "min_count": 1, "grouping_id": None, "group_value": None, "unprotected_id": release_id, "population_id": None}  # fmt: skip
    several = ""
    if query.table in ("metrics.movement", "metrics.presence"):
        several = """
            select distinct flows_id, 60 * shortest_minutes as shortest, 60 * longest_minutes as longest
            from study.od
            where not generalised
        """
    elif query.table in ("metrics.slot_movement", "metrics.published_movement"):
        several = "select flows_id, published_id from study.od where published_id is not null"
    elif query.table == "metrics.merged_movement":
        several = """
            select merged.flows_id, source.flows_id as source_id, source.index_id, merged.index_id as coarse_id, merged.min_count
            from study.od as merged
            join study.od as source on source.release_id = merged.release_id and not source.generalised
            where merged.generalised
        """
    elif "cube_id" in query.params:
        several = "select * from study.cube"
    elif "od_id" in query.params:
        own = "" if query.table == "metrics.od_flow" else "where not generalised"
        several = (
            f"select od_id, flows_id, index_id, zones_id, zones, pareto_share as pareto, alpha from study.od {own}"
        )
    elif "utility_id" in query.params:
        several = "select utility_id, before_id, after_id from study.utility"
    elif "tradeoff_id" in query.params:
        several = "select tradeoff_id from study.tradeoff"
    elif "risk_id" in query.params:
        several = """
            select asked.risk_id, asked.known_id, searched.run_id, asked.seed::varchar as seed, asked.sample,
                asked.about
            from study.risk as asked
            join study.traces as searched on searched.traces_id = asked.searched_id
        """
    elif "traces_id" in query.params:
        unprotected = "where protection = 'none'" if query.table.startswith("slots.") else ""
        several = f"select traces_id, run_id, basis from study.traces {unprotected}"
    return [values | row for row in town.sql(several).iter_rows(named=True)] if several else [values]


def _asked_of_term(query: Query, term: tl.Lab) -> list[dict[str, object]]:
    """The same for tables about schedules."""
    asked = term.sql("""
        select leak.*, leak.min_k as asked_k, leak.known_schedule_id as schedule_id, schedule.traces_id, schedule.traces_id as known_traces,
            schedule.tick_seconds, schedule.source, risk.searched_id as searched_traces, release.index_id,
            10000000 as block_size, 0 as block, clock.clock_id
        from study.leak as leak
        join study.schedule as schedule on schedule.schedule_id = leak.known_schedule_id
        join study.risk as risk on risk.risk_id = leak.risk_id
        join counts.release as release on release.release_id = leak.release_id
        cross join (select distinct clock_id from slots.week_clock where starts_with(clock_id, 'c')) as clock
    """)
    truth = query.table in ("metrics.extraction", "metrics.coming")  # of the first question alone
    return [row for row in asked.iter_rows(named=True) if row["points"] == 3 or not truth]


def _tables(tree: object) -> Iterator[tuple[str, str]]:
    if isinstance(tree, dict):
        if tree.get("type") == "BASE_TABLE":
            yield tree["schema_name"], tree["table_name"]
        for value in tree.values():
            yield from _tables(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _tables(value)


def _spelled(kind: str) -> str:
    return {"TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE"}.get(kind, kind)
