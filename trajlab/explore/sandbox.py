"""A lab that can only be read: no writing, no files, no extensions, no settings, and an end to every query."""

from __future__ import annotations

import math
import threading
from pathlib import Path
from types import TracebackType

import duckdb
import polars as pl
import pyarrow as pa

from trajlab.engine.duckdb import one_line
from trajlab.errors import LabError, QueryError
from trajlab.lab import Lab
from trajlab.report.markup import Html
from trajlab.report.sections import Section
from trajlab.store import Store

_LOCKED = (
    "set python_enable_replacements = false",
    "set enable_external_access = false",
    "set lock_configuration = true",
)
"""Last of all the lock: nothing that runs afterwards can open what was closed."""


class Sandbox:
    """The lab behind the playground. One query at a time, so that a slow one is waited for and not joined."""

    def __init__(self, path: Path, *, seconds: float, rows: int, memory_limit: str, threads: int | None = None) -> None:
        if not (math.isfinite(seconds) and seconds > 0) or rows < 1:
            raise LabError(f"a query needs time and rows: give more than {seconds:g} seconds and {rows} rows")
        if not path.exists():
            raise LabError(f"{path}: no such lab; `trajlab ingest {path} FILE` makes one")
        self.name = path.name
        self.seconds, self.rows = seconds, rows
        store = Store(str(path), memory_limit=memory_limit, threads=threads, read_only=True)
        for setting in _LOCKED:
            store.con.execute(setting)
        self.lab = Lab(store)
        self._con = store.con
        self.one_at_a_time = threading.Lock()
        self.drawn: dict[str, list[tuple[Section, Html]]] = {}

    def ask(self, sql: str) -> tuple[pl.DataFrame, bool]:
        """The answer to one SELECT, and whether there is more of it than the limit lets through."""
        cursor = self._con.cursor()
        clock = threading.Timer(self.seconds, cursor.interrupt)
        clock.start()
        try:
            statements = cursor.extract_statements(sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise QueryError(
                    "the playground only reads, one SELECT at a time: tables change through the lab's verbs"
                )
            relation = cursor.sql(sql)
            answer = relation.limit(self.rows + 1).pl()
        except duckdb.Error as error:
            raise QueryError(self._why(error)) from error
        except (pl.exceptions.PolarsError, pa.ArrowException) as error:
            raise QueryError("a column has a type that frames cannot hold: cast it, to text perhaps") from error
        finally:
            clock.cancel()
            cursor.close()
        return answer.head(self.rows), len(answer) > self.rows

    def _why(self, error: duckdb.Error) -> str:
        if isinstance(error, duckdb.InterruptException):
            return f"stopped after {self.seconds:g} seconds: ask for less, or start trajlab explore with --seconds"
        if isinstance(error, duckdb.PermissionException):
            return "files, extensions and settings are out of reach here: a query sees the tables of the lab alone"
        if "read-only mode" in str(error):
            return "the playground only reads: tables change through the lab's verbs"
        if isinstance(error, duckdb.OutOfMemoryException):
            return "more memory is needed than allowed: ask for less, or start trajlab explore with --memory-limit"
        return one_line(error)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.lab.close()
