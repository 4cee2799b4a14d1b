"""The relations of a lab: made in a new file, and brought up to date in one that another version made."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from trajlab import blank
from trajlab.errors import LabError
from trajlab.ids import digest
from trajlab.query import Query, catalogue, functions
from trajlab.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from trajlab.engine import Engine

FORMAT = 1
"""The layout of the lab's own tables; raised when an older trajlab could misread a newer lab."""
RENAMED: dict[str, dict[str, str]] = {
    "attacks.step": {"stage": "phase"},
    "grid.cell": {"parent": "parent_cell"},
    "metrics.anonymity": {"risk": "pick_chance", "mean_risk": "mean_pick_chance"},
    "metrics.crowd_slot": {"appear": "appearances"},
    "metrics.error_cdf": {"points": "positions"},
    "metrics.exposure": {"kind": "exposed_by"},
    "metrics.extraction": {"found": "usual_places", "kept": "habits", "kept_matched": "habits_matched"},
    "metrics.habit": {"kept": "is_habit"},
    "metrics.leak_curve": {"value": "threshold"},
    "metrics.person_leak": {"habits": "habit_slots", "sensitive": "sensitive_slots"},
    "metrics.prediction_error": {"part": "time_of_day"},
    "metrics.top_set": {"k": "places"},
    "metrics.tradeoff_fit": {"points": "steps", "said": "reason"},
    "records.lesson": {"begins": "begin_minute", "ends": "end_minute"},
    "records.zone": {"zone": "name", "polygon": "outline"},
    "report.summary": {"flows": "flow_counts", "observed": "observed_share"},
    "slots.person": {"observed": "observed_slots"},
    "slots.week": {"starts": "first_day"},
    "study.leak": {"known_id": "known_schedule_id", "searched_id": "searched_schedule_id"},
    "study.note": {"about": "subject"},
    "study.od": {"pareto": "pareto_share"},
    "study.secret": {"value": "secret"},
    "study.tradeoff_step": {"zones": "zones_name"},
}
"""Columns that had another name in an older version: {table: {old name: new name}}."""

REMOVED_VIEWS = ("report.counts_by_cell", "report.proved_steps")
"""What an older lab has and nobody reads any more: report.people_by_cell and report.matching_proof say the same."""

COMPUTED: dict[str, dict[str, str]] = {
    "counts.release": {"recipe": "''"},
    "study.release": {"unprotected_id": "release_id"},
}
"""Columns that an older version lacks and this one needs, and what they hold there: {table: {column: expression}}."""


def check(engine: Engine, *, read_only: bool) -> None:
    """Refuse what is no lab, or one of a newer trajlab; unless `read_only`, add what the lab lacks."""
    found = _relations(engine) if engine.path != ":memory:" else set()
    if not found:
        if read_only:
            raise LabError(f"{engine.path} is empty: nothing was ever ingested into it")
        if not blank.copy_relations(engine, _version(), _create_relations):
            _create_relations(engine)
        return
    if "study.lab" not in found:
        raise LabError(f"{engine.path} is a DuckDB file but not a lab: it has {len(found)} tables of its own")
    _refuse_newer(engine)
    if not read_only:
        _change_columns(engine)
        _create_relations(engine, found)


def is_older(engine: Engine) -> bool:
    """Whether the lab lacks relations or columns that this version knows."""
    there = _columns(engine)
    views = {f"{schema}.{name}" for schema, name in _views(engine)}  # of a cluster lab, over its large tables
    tables = [query for query in catalogue().values() if not query.view and query.table not in views]
    if any(there.get(query.table) != _wanted(query) for query in tables):
        return True
    return not engine.rows("select 1 from study.lab where relations = $texts", {"texts": _texts()})


def is_empty(engine: Engine) -> bool:
    return engine.path == ":memory:" or not _relations(engine)


def _relations(engine: Engine) -> set[str]:
    """The names of the tables and views of the file."""
    here = "where not internal and database_name = current_database()"
    tables = engine.rows(f"select schema_name, table_name from duckdb_tables() {here}")  # noqa: S608
    return {f"{schema}.{name}" for schema, name in (*tables, *_views(engine))}


def _views(engine: Engine) -> list[tuple[str, str]]:
    return engine.rows(
        "select schema_name, view_name from duckdb_views() where not internal and database_name = current_database()"
    )


def write_comments(engine: Engine, query: Query) -> None:
    """The words of the header, for whoever opens the file with another program; in memory nobody does."""
    if engine.path == ":memory:":
        return
    kind = "view" if query.view else "table"
    engine.execute(f"comment on {kind} {query.table} is {_literal(query.summary)}")
    for column in query.columns:
        engine.execute(f'comment on column {query.table}."{column.name}" is {_literal(column.meaning)}')


def _refuse_newer(engine: Engine) -> None:
    rows = engine.rows("select format, trajlab from study.lab")
    if len(rows) != 1 or None in rows[0]:
        raise LabError(
            f"{engine.path} does not say which trajlab wrote it (study.lab has {len(rows)} rows): another program "
            "changed it; restore it from a copy, or ingest into a new lab"
        )
    ((written, by),) = rows
    if written > FORMAT:
        raise LabError(
            f"{engine.path} was written by trajlab {by} (lab format {written}); this trajlab reads formats "
            f"up to {FORMAT}: upgrade trajlab to open it"
        )


def _columns(engine: Engine) -> dict[str, dict[str, str]]:
    """Every table of the file with its columns and their types."""
    found = engine.rows(
        "select schema_name || '.' || table_name, column_name, data_type from duckdb_columns() "
        "where table_oid in (select table_oid from duckdb_tables() where database_name = current_database()) "
        "and database_name = current_database() order by schema_name, table_name, column_index"
    )
    tables: dict[str, dict[str, str]] = {}
    for table, column, kind in found:
        tables.setdefault(table, {})[column] = kind
    return tables


def _wanted(query: Query) -> dict[str, str]:
    spelled = {"TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE"}
    return {column.name: spelled.get(column.type, column.type) for column in query.columns}


def _change_columns(engine: Engine) -> None:
    """Tables of another version get this version's columns: those that came are empty, those that went are dropped."""
    changed = {
        table: columns
        for table, columns in _columns(engine).items()
        if table in catalogue() and (catalogue()[table].view or columns != _wanted(catalogue()[table]))
    }
    if not changed:
        return
    with engine.transaction():
        for table, columns in changed.items():
            query = catalogue()[table]
            if query.view:
                engine.execute(f"drop table {table}")
                continue
            new_names = {column: RENAMED.get(table, {}).get(column, column) for column in columns}
            kept = [f'"{old}" as "{new}"' for old, new in new_names.items() if new in _wanted(query)]
            kept += [
                f'{expression} as "{column}"'
                for column, expression in COMPUTED.get(table, {}).items()
                if column not in columns
            ]
            engine.execute(f"create temp table column_change as select {', '.join(kept)} from {table}")  # noqa: S608
            engine.execute(f"drop table {table}")
            engine.execute(f"create table {table} ({query.ddl})")
            engine.execute(f"insert into {table} by name select * from column_change")  # noqa: S608
            engine.execute("drop table column_change")
            write_comments(engine, query)
        engine.execute("update study.lab set relations = null")  # what reads the tables is made again


def _create_relations(engine: Engine, there: Collection[str] = ()) -> None:
    """Tables that are not `there`; and views and functions, whenever their text changed."""
    tables = [query for query in catalogue().values() if not query.view and query.table not in there]
    views = [query for query in catalogue().values() if query.view]
    texts = {"texts": _texts()}
    if not tables and engine.rows("select 1 from study.lab where relations = $texts", texts):
        return
    with engine.transaction():
        for schema in dict.fromkeys(query.table.partition(".")[0] for query in catalogue().values()):
            engine.execute(f"create schema if not exists {schema}")
        for view in REMOVED_VIEWS if there else ():
            engine.execute(f"drop view if exists {view}")
        for query in tables:
            engine.execute(f"create table {query.table} ({query.ddl})")
            write_comments(engine, query)
        create_functions(engine)
        for query in views:  # in the order in which they read each other
            _create_view(engine, query)
        if "study.lab" not in there:
            made = {"format": FORMAT, "by": __version__}
            engine.execute("insert into study.lab (format, trajlab) values ($format, $by)", made)
        engine.execute("update study.lab set relations = $texts", texts)


def _texts() -> str:
    """What names the views and functions of this version."""
    return _digests(catalogue)[0]


def _version() -> str:
    """What names the relations of this version with all that describes them."""
    return _digests(catalogue)[1]


@functools.cache
def _digests(relations: Callable[[], dict[str, Query]]) -> tuple[str, str]:
    """Both names, once in a process: the texts are long."""
    queries = relations().values()
    texts = digest(functions(), [(query.table, query.select) for query in queries if query.view])
    described = [(query.table, query.kind, query.summary, query.columns) for query in queries]
    return texts, digest(FORMAT, __version__, texts, described)


def create_functions(engine: Engine) -> None:
    """The functions of `sql/0_functions`, wherever SQL that uses them is to run."""
    for name, (params, expression) in functions().items():
        body = re.sub(r"\$(\w+)", r"\1", expression)
        engine.execute(f"create or replace macro {name}({', '.join(params)}) as ({body})")


def _create_view(engine: Engine, query: Query) -> None:
    """A view, or a macro where it has parameters: these are called _name, so that no column is meant."""
    if query.kind == "macro":
        params = ", ".join(f"_{name}" for name in query.params)
        body = re.sub(r"\$(\w+)", r"_\1", query.select)
        engine.execute(f"create or replace macro {query.table}({params}) as table ({body})")
    else:
        engine.execute(f"create or replace view {query.table} as {query.select}")
        write_comments(engine, query)


def _literal(text: str) -> str:
    """Our own header text as a SQL string: COMMENT ON takes no parameters."""
    return "'" + text.replace("'", "''") + "'"
