"""A lab that can only be read: no writing, no files, no extensions, no settings, and an end to every query."""

from __future__ import annotations

import math
import threading
from pathlib import Path
from types import TracebackType

import polars as pl

from trajlab.errors import LabError
from trajlab.explore.child import LOCKED
from trajlab.explore.queries import Queries
from trajlab.lab import Lab
from trajlab.report.markup import Html
from trajlab.report.sections import Section
from trajlab.store import Store


class Sandbox:
    """The lab behind the playground: the pages' own questions here, everybody's queries in another process.

    Whoever uses `lab` holds `one_at_a_time`. Queries do not wait for that, nor pages for queries.
    """

    def __init__(self, path: Path, *, seconds: float, rows: int, memory_limit: str, threads: int | None = None) -> None:
        if not (math.isfinite(seconds) and seconds > 0) or rows < 1:
            raise LabError(f"a query needs time and rows: give more than {seconds:g} seconds and {rows} rows")
        if not path.exists():
            raise LabError(f"{path}: no such lab; `trajlab ingest {path} FILE` makes one")
        self.name = path.name
        self.seconds, self.rows = seconds, rows
        store = Store(str(path), memory_limit=memory_limit, threads=threads, read_only=True)
        for setting in LOCKED:
            store.con.execute(setting)
        self.lab = Lab(store)
        self.closing = False
        self._con = store.con
        self._queries = Queries(path, seconds=seconds, rows=rows, memory_limit=memory_limit, threads=threads)
        self.one_at_a_time = threading.Lock()
        self.drawn: dict[str, list[tuple[Section, Html]]] = {}

    def run(self, sql: str) -> tuple[pl.DataFrame, bool]:
        """The answer to one SELECT, and whether there is more of it than the limit lets through."""
        return self._queries.run(sql)

    def stop(self) -> None:
        """End what is under way, here and in the other process."""
        self.closing = True
        self._queries.close()
        self._con.interrupt()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        with self.one_at_a_time:
            self.lab.close()
