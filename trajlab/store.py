"""The lab file: opened, and changed all or nothing.

Every change to a lab happens inside `transaction()`: an error, a full disk or a
killed process leaves the lab as it was before.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from trajlab import engine as engines
from trajlab import schema
from trajlab.engine.duckdb import remove_new_file, translate_errors
from trajlab.errors import ContractError, LabError, QueryError, UnknownNameError
from trajlab.query import Query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import duckdb
    import polars as pl

    from trajlab.engine import Engine

HASHES = 8_000_000
"""Hashes of keys that are compared at once: 64 MB."""
FEW_HASHES = 1000
"""So few are compared as they come: a frame of them would take longer to make."""


class LargeTables(Protocol):
    """Where the large tables of a lab are, if not in its file `lab`: views stand for them there."""

    @property
    def lab(self) -> Path: ...

    def create_views(self, engine: Engine) -> None: ...

    def show(self, engine: Engine, *tables: str) -> None: ...


class Store:
    """An open lab and the few ways in which it changes."""

    def __init__(
        self,
        path: str = ":memory:",
        *,
        engine: str = "duckdb",
        memory_limit: str | None = None,
        threads: int | None = None,
        read_only: bool = False,
        folder: LargeTables | None = None,
    ) -> None:
        self.path = path = os.path.expanduser(path)  # noqa: PTH111
        self._inside = False
        if folder is not None:
            path = str(folder.lab)
        made_here = path != ":memory:" and not Path(path).exists()
        self.engine: Engine = engines.load(engine)(
            path, memory_limit=memory_limit, threads=threads, read_only=read_only
        )
        self._made_here = False
        try:
            with translate_errors(f"opening {path}"):
                self._made_here = made_here and schema.is_empty(self.engine)
                schema.check(self.engine, read_only=read_only)
                if read_only and schema.is_older(self.engine):
                    self.engine.close()
                    self._bring_up_to_date(engine)
                    self.engine = engines.load(engine)(
                        path, memory_limit=memory_limit, threads=threads, read_only=read_only
                    )
                if folder is not None:
                    if not read_only:
                        folder.create_views(self.engine)
                    folder.show(self.engine)
        except BaseException:
            self.take_back()
            raise

    def _bring_up_to_date(self, engine: str) -> None:
        """A lab of an older version lacks relations that are read here: it is opened once for writing."""
        try:
            Store(self.path, engine=engine).close()
        except LabError as error:
            raise LabError(
                f"{self.path} was made by an older trajlab and has to be changed before it can be read: {error}; "
                "copy it to where it can be written, and open the copy"
            ) from error

    @property
    def con(self) -> duckdb.DuckDBPyConnection:
        """The connection of the embedded engine: for reading files, and for a reader's own SELECT."""
        con: duckdb.DuckDBPyConnection = self.engine.con  # type: ignore[attr-defined]
        return con

    @contextmanager
    def transaction(self, doing: str) -> Iterator[None]:
        """All or nothing: what happens inside is kept as a whole or not at all, other transactions in it too."""
        with translate_errors(doing):
            if self._inside:
                yield
                return
            self._inside = True
            try:
                with self.engine.transaction():
                    yield
            finally:
                self._inside = False

    @contextmanager
    def rehearsal(self, doing: str) -> Iterator[None]:
        """Undo whatever happens inside, transactions too: only what was read of it stays."""

        class Undo(Exception):  # noqa: N818  not an error: the way out of a transaction that is not to be kept
            pass

        with translate_errors(doing):
            self._inside = True
            try:
                with self.engine.transaction():
                    yield
                    raise Undo
            except Undo:
                pass
            finally:
                self._inside = False

    def build(self, query: Query, **params: object) -> None:
        """Replace this release's or run's rows of the query's table with fresh ones.

        Idempotent: building twice leaves the same rows. All or nothing: call it
        inside a transaction, and a failed check leaves the table as it was.
        """
        used = {name: params[name] for name in query.params}
        self.clear(query, **{name: params[name] for name in query.scope})
        with translate_errors(f"building {query.table} from {query.file} with {_listed(used)}"):
            self.execute(f"insert into {query.table} by name {query.select}", **used)
        self.check_grain(query, **{name: params[name] for name in query.scope})

    def build_each(self, query: Query, name: str, values: Sequence[object], **params: object) -> None:
        """The same as `build` for each value of the parameter `name`, in one statement: its rows are its SELECT's.

        A statement over little takes longer to plan than to run, so that many values cost hardly more than one.
        """
        used = {each: params[each] for each in query.params if each != name} | {"values_asked": list(values)}
        scope = {each: params[each] for each in query.scope if each != name} | {name: list(values)}
        select = re.sub(rf"\${name}\b", f"value_asked.{name}", query.select)
        self.clear(query, **scope)
        with translate_errors(f"building {query.table} from {query.file} for {len(values)} values of {name}"):
            self.execute(
                f"insert into {query.table} by name select rows_of_value.* "  # noqa: S608
                f"from (select unnest($values_asked) as {name}) as value_asked, lateral ({select}) as rows_of_value",
                **used,
            )
        self.check_grain(query, **scope)

    def clear(self, query: Query, **scope: object) -> None:
        """Delete the rows of one release or run, or of each in a list (of everything where the table has no scope)."""
        where = _only(scope)
        self.execute(f"delete from {query.table} where {where}", **scope)  # noqa: S608

    def insert(self, table: str, frame: pl.DataFrame) -> None:
        """Append a frame, column by column name, to a table that a Python step writes."""
        query = Query.load(table)
        if set(frame.columns) != {c.name for c in query.columns}:
            raise ContractError(f"{table} has columns {[c.name for c in query.columns]}, not {frame.columns}")
        with self.engine.frames(rows_to_insert=frame):
            self.execute(f"insert into {table} by name select * from rows_to_insert")  # noqa: S608

    def check_grain(self, query: Query, **scope: object) -> None:
        """Raise when two rows share the key that the header promises to be unique."""
        keys = ", ".join(name for name in query.grain if isinstance(scope.get(name, []), list))
        if not keys:
            return
        rows = f"from {query.table} where {_only(scope)}"
        if not self._hashes_repeat(f"hash({keys})", rows, scope):
            return
        counted = f"select count(*) - count(distinct ({keys})) {rows}"
        ((repeats,),) = self.rows(counted, **scope)
        if repeats:
            raise ContractError(f"{query.table} promises one row per {keys}, but {repeats} rows repeat a key")

    def _hashes_repeat(self, key: str, rows: str, params: dict[str, object]) -> bool:
        """Whether two hashes are equal: ten times faster than counting distinct keys in the engine.

        Equal ones leave the same remainder, so that they can be looked at in parts where they are many.
        """
        few = min(FEW_HASHES, HASHES)
        first = self.rows(f"select {key} {rows} limit {few + 1}", **params)
        if len(first) <= few:
            return len(set(first)) < len(first)
        hashes = self._hashes(key, f"{rows} limit {HASHES + 1}", params)
        if len(hashes) <= HASHES:
            return _repeats(hashes)
        del hashes
        ((total,),) = self.rows(f"select count(*) {rows}", **params)
        parts = -(-total // HASHES)
        return any(
            _repeats(self._hashes("h", f"from (select {key} as h {rows}) where h % {parts} = {part}", params))
            for part in range(parts)
        )

    def _hashes(self, key: str, rows: str, params: dict[str, object]) -> pl.Series:
        return self.frame(f"select {key} as h {rows}", **params)["h"]

    def totals(self, sql: str, merge: str, /, **params: object) -> list[tuple[Any, ...]]:
        """The answer to a question about everybody that shards by person can answer in parts.

        `merge` says how parts become one ("sum(people), min(first)"); columns that it does not name are the key.
        Here there is one part, the whole; on a cluster no part leaves its task before it is summed.
        """
        return self.rows(sql, **params)

    def by_person(self, table: str, step: Callable[[Store, Any], None], progress: Any, **scope: object) -> None:
        """Fill a table by a step that treats every person alone: here at once, on a cluster shard by shard."""
        step(self, progress)

    def rows(self, sql: str, /, **params: object) -> list[tuple[Any, ...]]:
        return self.engine.rows(sql, params)

    def execute(self, sql: str, /, **params: object) -> None:
        self.engine.execute(sql, params)

    def frame(self, sql: str, /, **params: object) -> pl.DataFrame:
        return self.engine.frame(sql, params)

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
        self.engine.close()

    def take_back(self) -> None:
        """Close the lab, and remove its file if this opening made it."""
        if self._made_here:
            remove_new_file(self.con, Path(self.path))
        self.engine.close()


def _only(scope: dict[str, object]) -> str:
    """The condition that holds for the rows of a scope, where a column has a value or one of a list."""
    each = (f"{name} in ${name}" if isinstance(value, list) else f"{name} = ${name}" for name, value in scope.items())
    return " and ".join(each) or "true"


def _repeats(hashes: pl.Series) -> bool:
    in_order = hashes.sort().to_numpy()
    return bool((in_order[1:] == in_order[:-1]).any())


def _listed(params: dict[str, object]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in params.items()) or "no parameters"
