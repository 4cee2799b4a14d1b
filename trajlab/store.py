"""The lab file: opened, checked, and changed all or nothing.

Every change to a lab happens inside `transaction()`: an error, a full disk or a
killed process leaves the lab as it was before.
"""

from __future__ import annotations

import os
import re
import signal
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trajlab.engine.duckdb import connect, said_kindly, take_back
from trajlab.errors import ContractError, LabError, QueryError, UnknownNameError
from trajlab.ids import digest
from trajlab.query import Query, catalogue, functions

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb
    import polars as pl

HASHES = 8_000_000
"""Hashes of keys that are compared at once: 64 MB."""
FORMAT = 1
"""The layout of the lab's own tables; raised when an older trajlab could misread a newer lab."""


class Store:
    """An open lab file and the few ways in which it changes."""

    def __init__(
        self,
        path: str = ":memory:",
        *,
        memory_limit: str | None = None,
        threads: int | None = None,
        read_only: bool = False,
    ) -> None:
        self.path = path = os.path.expanduser(path)  # noqa: PTH111
        self._rehearsing = False
        self._made_here = path != ":memory:" and not Path(path).exists()
        self.con: duckdb.DuckDBPyConnection = connect(
            path, memory_limit=memory_limit, threads=threads, read_only=read_only
        )
        try:
            with said_kindly(f"opening {path}"):
                self._check_format(read_only=read_only)
        except BaseException:
            self.take_back()
            raise

    @contextmanager
    def transaction(self, doing: str) -> Iterator[None]:
        """All or nothing: what happens inside is kept as a whole or not at all."""
        with said_kindly(doing):
            if self._rehearsing:
                yield
                return
            self.con.execute("begin")
            try:
                yield
                with _uninterrupted():
                    self.con.execute("commit")
            except BaseException:
                self._rollback()
                raise

    @contextmanager
    def rehearsal(self, doing: str) -> Iterator[None]:
        """Undo whatever happens inside, transactions too: only what was read of it stays."""
        with said_kindly(doing):
            self.con.execute("begin")
            self._rehearsing = True
            try:
                yield
            finally:
                self._rehearsing = False
                self._rollback()

    def build(self, query: Query, **params: object) -> None:
        """Replace this release's or run's rows of the query's table with fresh ones.

        Idempotent: building twice leaves the same rows. All or nothing: call it
        inside a transaction, and a failed check leaves the table as it was.
        """
        used = {name: params[name] for name in query.params}
        self.clear(query, **{name: params[name] for name in query.scope})
        with said_kindly(f"building {query.table} from {query.file} with {_told(used)}"):
            self.con.execute(f"insert into {query.table} by name {query.select}", used)
        self.check_grain(query, **{name: params[name] for name in query.scope})

    def clear(self, query: Query, **scope: object) -> None:
        """Delete the rows of one release or run (of everything where the table has no scope)."""
        where = " and ".join(f"{name} = ${name}" for name in scope) or "true"
        self.con.execute(f"delete from {query.table} where {where}", scope)  # noqa: S608

    def insert(self, table: str, frame: pl.DataFrame) -> None:
        """Append a frame, column by column name, to a table that a Python step writes."""
        query = Query.load(table)
        if set(frame.columns) != {c.name for c in query.columns}:
            raise ContractError(f"{table} has columns {[c.name for c in query.columns]}, not {frame.columns}")
        self.con.register("rows_to_insert", frame.to_arrow())
        try:
            self.con.execute(f"insert into {table} by name select * from rows_to_insert")  # noqa: S608
        finally:
            self.forget("rows_to_insert")

    def forget(self, view: str) -> None:
        """Drop a registered frame, even in a transaction that has failed."""
        import duckdb

        with suppress(duckdb.Error):
            self.con.unregister(view)

    def check_grain(self, query: Query, **scope: object) -> None:
        """Raise when two rows share the key that the header promises to be unique."""
        keys = ", ".join(name for name in query.grain if name not in scope)
        if not keys:
            return
        where = " and ".join(f"{name} = ${name}" for name in scope) or "true"
        rows = f"from {query.table} where {where}"
        if not self._hashes_repeat(f"hash({keys})", rows, scope):
            return
        counted = f"select count(*) - count(distinct ({keys})) {rows}"
        repeats = self.con.execute(counted, scope).fetchall()[0][0]
        if repeats:
            raise ContractError(f"{query.table} promises one row per {keys}, but {repeats} rows repeat a key")

    def _hashes_repeat(self, key: str, rows: str, params: dict[str, object]) -> bool:
        """Whether two hashes are equal: ten times faster than counting distinct keys in the engine.

        Equal ones leave the same remainder, so that they can be looked at in parts.
        """
        ((total,),) = self.con.execute(f"select count(*) {rows}", params).fetchall()
        parts = -(-total // HASHES)
        for part in range(parts):
            sql = f"select h from (select {key} as h {rows}) where h % {parts} = {part}"  # noqa: S608
            relation = self.con.sql(sql, params=params) if params else self.con.sql(sql)
            hashes = relation.fetchnumpy()["h"]
            hashes.sort()
            if bool((hashes[1:] == hashes[:-1]).any()):
                return True
        return False

    def rows(self, sql: str, /, **params: object) -> list[tuple[Any, ...]]:
        return self.con.execute(sql, params).fetchall()

    def frame(self, sql: str, /, **params: object) -> pl.DataFrame:
        relation = self.con.sql(sql, params=params) if params else self.con.sql(sql)
        frame: pl.DataFrame = relation.pl()
        return frame

    def relation(self, query: Query, **params: object) -> pl.DataFrame:
        """All rows of a relation in the order of its key; `params` are a macro's, or values of columns."""
        known = query.params if query.kind == "macro" else tuple(column.name for column in query.columns)
        if wrong := [name for name in params if name not in known]:
            raise UnknownNameError(f"parameter of {query.table}", wrong[0], known)
        if query.kind == "macro":
            if missing := [name for name in query.params if name not in params]:
                raise QueryError(f"{query.table} needs {' and '.join(missing)}: it is asked of one at a time")
            rows = f"{query.table}({', '.join(f'${name}' for name in query.params)})"
        else:
            rows = query.table + (" where " + " and ".join(f'"{name}" = ${name}' for name in params) if params else "")
        order = f" order by {', '.join(query.grain)}" if query.grain else ""
        return self.frame(f"select * from {rows}{order}", **params)  # noqa: S608

    def close(self) -> None:
        self.con.close()

    def take_back(self) -> None:
        """Close the lab, and remove its file if this opening made it."""
        if self._made_here:
            take_back(self.con, Path(self.path))
        self.con.close()

    def _check_format(self, *, read_only: bool) -> None:
        found = self.rows("select table_schema, table_name from information_schema.tables")
        self._made_here = self._made_here and not found
        if ("study", "lab") in found:
            written, by = self._written_by()
            if written > FORMAT:
                raise LabError(
                    f"{self.path} was written by trajlab {by} (lab format {written}); this trajlab reads formats "
                    f"up to {FORMAT}: upgrade trajlab to open it"
                )
            if read_only:
                self._refuse_other_columns(by)
            else:
                self._change_columns(by)
        elif found:
            raise LabError(f"{self.path} is a DuckDB file but not a lab: it has {len(found)} tables of its own")
        elif read_only:
            raise LabError(f"{self.path} is empty: nothing was ever ingested into it")
        if not read_only:
            self._create_relations()

    def _written_by(self) -> tuple[int, str]:
        rows = self.rows("select format, trajlab from study.lab")
        if len(rows) != 1 or None in rows[0]:
            raise LabError(
                f"{self.path} does not say which trajlab wrote it (study.lab has {len(rows)} rows): another program "
                "changed it; restore it from a copy, or ingest into a new lab"
            )
        written, by = rows[0]
        return int(written), str(by)

    def _refuse_other_columns(self, by: str) -> None:
        found = self.rows(
            "select schema_name || '.' || table_name, list(column_name) from duckdb_columns() "
            "where not internal group by all"
        )
        for table, columns in found:
            query = catalogue().get(table)
            if query and {c.name for c in query.columns} != set(columns):
                raise LabError(
                    f"{self.path} was made by trajlab {by}, whose {table} has other columns than this version's: "
                    "open it once for writing, and it is brought up to date"
                )

    def _create_relations(self) -> None:
        """Add what the lab lacks: tables once, views and functions whenever their text changed."""
        from trajlab.version import __version__

        there = {f"{s}.{t}" for s, t in self.rows("select table_schema, table_name from information_schema.tables")}
        tables = [query for query in catalogue().values() if not query.view and query.table not in there]
        texts = digest(functions(), [(query.table, query.select) for query in catalogue().values() if query.view])
        if not tables and self.rows("select 1 from study.lab where relations = $texts", texts=texts):
            return
        with self.transaction("creating the lab's tables"):
            for name, (params, expression) in functions().items():
                body = re.sub(r"\$(\w+)", r"\1", expression)
                self.con.execute(f"create or replace macro {name}({', '.join(params)}) as ({body})")
            for query in catalogue().values():
                self.con.execute(f"create schema if not exists {query.table.partition('.')[0]}")
                if query.view:
                    self._create_view(query)
                elif query in tables:
                    self.con.execute(f"create table {query.table} ({query.ddl})")
                    self._comment(query)
            if "study.lab" not in there:
                first = {"format": FORMAT, "by": __version__}
                self.con.execute("insert into study.lab (format, trajlab) values ($format, $by)", first)
            self.con.execute("update study.lab set relations = $texts", {"texts": texts})

    def _create_view(self, query: Query) -> None:
        """A view, or a macro where it has parameters; a macro's are called _name, so that no column is meant."""
        if query.kind == "macro":
            params = ", ".join(f"_{name}" for name in query.params)
            body = re.sub(r"\$(\w+)", r"_\1", query.select)
            self.con.execute(f"create or replace macro {query.table}({params}) as table ({body})")
            return
        self.con.execute(f"create or replace view {query.table} as {query.select}")
        self._comment(query)

    def _change_columns(self, by: str) -> None:
        """Bring a lab of another version up to date: columns that came are empty, columns that went are dropped."""
        found = self.rows(
            "select schema_name || '.' || table_name, list(column_name order by column_index), "
            "list(data_type order by column_index) from duckdb_columns() where not internal group by all order by all"
        )
        views = {
            name
            for (name,) in self.rows("select schema_name || '.' || view_name from duckdb_views() where not internal")
        }
        with self.transaction(f"bringing a lab of trajlab {by} up to date"):
            for table, columns, types in found:
                query = catalogue().get(table)
                if query is None or table in views:
                    continue
                if query.view:
                    self.con.execute(f"drop table {table}")
                    continue
                wanted = {c.name: _spelled(c.type) for c in query.columns}
                if dict(zip(columns, types, strict=True)) == wanted:
                    continue
                kept = ", ".join(f'"{name}"' for name in columns if name in wanted)
                self.con.execute(f"create temp table column_change as select {kept} from {table}")  # noqa: S608
                self.con.execute(f"drop table {table}")
                self.con.execute(f"create table {table} ({query.ddl})")
                self.con.execute(f"insert into {table} by name select * from column_change")  # noqa: S608
                self.con.execute("drop table column_change")
                self._comment(query)

    def _comment(self, query: Query) -> None:
        self.con.execute(
            f"comment on {query.kind if query.view else 'table'} {query.table} is {_literal(query.summary)}"
        )
        for column in query.columns:
            target = f'{query.table}."{column.name}"'
            self.con.execute(f"comment on column {target} is {_literal(column.meaning)}")

    def _rollback(self) -> None:
        import duckdb

        # The engine may have rolled back already, or given up on the file; reopening recovers it.
        with suppress(duckdb.Error):
            self.con.execute("rollback")


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C must not fall into the moment in which a transaction becomes final."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _literal(text: str) -> str:
    """Our own header text as a SQL string: COMMENT ON takes no parameters."""
    return "'" + text.replace("'", "''") + "'"


def _told(params: dict[str, object]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in params.items()) or "no parameters"


def _spelled(kind: str) -> str:
    """A type as the engine spells it."""
    return {"TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE"}.get(kind, kind)
