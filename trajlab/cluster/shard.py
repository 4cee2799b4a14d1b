"""What a task does: the unchanged SQL file, or the unchanged Python step, in DuckDB on one shard of the people."""

from __future__ import annotations

import atexit
import copy
import functools
import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from trajlab import schema
from trajlab.cluster import LARGE
from trajlab.cluster.folder import Folder, text_literal, unfinished
from trajlab.engine.duckdb import DuckDB, translate_errors
from trajlab.progress import Progress
from trajlab.query import Query, catalogue, functions
from trajlab.store import Store

THREADS = 1
"""Of DuckDB in a task: a cluster counts a core for each."""
TASK_MEMORY = "2GB"
"""What DuckDB may hold in a task, unless said; beyond it spills to the worker's disk."""


class ShardStore(Store):
    """The lab as a task sees it: one shard of the large tables it reads, the small ones it was given."""

    def __init__(self, memory_limit: str | None) -> None:
        self.path = ":memory:"
        self._inside = self._made_here = False
        self.engine = _engine(memory_limit)
        self._catalog = f"shard_{next(_NUMBERS)}"
        schemas = dict.fromkeys(table.partition(".")[0] for table in catalogue())
        made = "; ".join(f"create schema {name}" for name in schemas)
        self.con.execute(f"attach ':memory:' as {self._catalog}; use {self._catalog}; {made}")

    def close(self) -> None:
        self.con.execute(f"use memory; detach {self._catalog}")
        super().close()

    def give(self, table: str, files: Iterable[str]) -> None:
        """Let SQL read these files as the table; without any it is empty."""
        listed = ", ".join(map(text_literal, files))
        if listed:
            columns = ", ".join(f'"{column.name}"' for column in Query.load(table).columns)
            self.execute(f"create or replace view {table} as select {columns} from read_parquet([{listed}])")  # noqa: S608
        else:
            self.create(table)

    def create(self, table: str) -> None:
        self.execute(f"create table {table} ({Query.load(table).ddl})")

    def write(self, sql: str, params: Mapping[str, object], path: Path) -> int:
        """Write the rows of a SELECT as one Parquet file that is there whole or not at all; how many they are."""
        new = unfinished(path)
        relation = self.con.sql(sql, params=dict(params)) if params else self.con.sql(sql)
        relation.write_parquet(str(new), compression="zstd")
        ((rows,),) = self.rows("select count(*) from read_parquet($path)", path=str(new))
        os.replace(new, path)  # noqa: PTH105
        return int(rows)


_NUMBERS = itertools.count()


def _engine(memory_limit: str | None) -> DuckDB:
    """A connection of its own to the one engine of this process: starting one takes longer than many a task."""
    engine = copy.copy(_process_engine(os.getpid(), memory_limit))
    engine.con = engine.con.cursor()
    return engine


@functools.cache
def _process_engine(process: int, memory_limit: str | None) -> DuckDB:
    """Spilling to a folder of its own: engines of other tasks on the machine do not meet there."""
    scratch = tempfile.mkdtemp(prefix="trajlab-")
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    engine = DuckDB(":memory:", memory_limit=memory_limit or TASK_MEMORY, threads=THREADS)
    engine.execute("set temp_directory = $folder", {"folder": scratch})
    return engine


@contextmanager
def open_shard(doing: str, memory_limit: str | None) -> Iterator[ShardStore]:
    store = ShardStore(memory_limit)
    try:
        with translate_errors(doing):
            yield store
    finally:
        store.close()


@dataclass(frozen=True)
class Shared:
    """What every task of a job is given: where the lab is, and the rows of the small tables it reads."""

    folder: Folder
    doing: str
    reads: tuple[str, ...] = ()
    small: Mapping[str, pa.Table] | None = None
    memory_limit: str | None = None

    @contextmanager
    def open(self, shard: int) -> Iterator[ShardStore]:
        with open_shard(self.doing, self.memory_limit) as store:
            for table in self.reads:
                if table in LARGE:
                    store.give(table, self.folder.files(table, shard))
                else:
                    store.create(table)
                    store.con.from_arrow((self.small or {})[table]).insert_into(table)
            yield store


@dataclass(frozen=True)
class BuildPart:
    """Run a SQL file on a shard and write its rows."""

    shared: Shared
    table: str
    key: str
    params: Mapping[str, object]
    by_shard: Mapping[str, list[object]]
    """Parameters that differ from shard to shard."""
    into: str = ""
    """The folder of the result, where that is not the table's own."""

    def __call__(self, shard: int) -> int:
        query = Query.load(self.table)
        own = {name: values[shard] for name, values in self.by_shard.items()}
        params = {**self.params, **own}
        path = self.shared.folder.part(self.into or self.table, self.key, shard)
        with self.shared.open(shard) as store:
            if any(f"{name}(" in query.select for name in functions()):
                schema.create_functions(store.engine)
            columns = ", ".join(f'"{c.name}"::{c.type} as "{c.name}"' for c in query.columns)
            used = {name: params[name] for name in query.params}
            rows = store.write(f"select {columns} from ({query.select})", used, path)  # noqa: S608
            store.give(self.table, [str(path)])
            store.check_grain(query, **{name: params[name] for name in query.scope})
            return rows


@dataclass(frozen=True)
class RunStep:
    """Run a Python step on a shard and write the table that it fills."""

    shared: Shared
    table: str
    key: str
    step: Callable[[Store, Progress], None]

    def __call__(self, shard: int) -> int:
        with self.shared.open(shard) as store:
            store.create(self.table)
            self.step(store, Progress(quiet=True))
            path = self.shared.folder.part(self.table, self.key, shard)
            return store.write(f"select * from {self.table}", {}, path)  # noqa: S608


@dataclass(frozen=True)
class AskPart:
    """Answer a question about a shard."""

    shared: Shared
    sql: str
    params: Mapping[str, object]

    def __call__(self, shard: int) -> pa.Table:
        with self.shared.open(shard) as store:
            return store.frame(self.sql, **self.params).to_arrow()


@dataclass(frozen=True)
class SendPart:
    """Divide the rows of one file among the folders of their shards; done twice, the files are the same."""

    files: tuple[Path, ...]
    by: str
    folder: Path

    def __call__(self, number: int) -> None:
        on_the_way = unfinished(self.folder / f"{number}")
        with open_shard("sending records to their shards", None) as store:
            store.execute(
                f"copy (select * from read_parquet({text_literal(str(self.files[number]))})) "  # noqa: S608
                f"to {text_literal(str(on_the_way))} (format parquet, compression zstd, partition_by ({self.by}))"
            )
        for part in on_the_way.glob(f"{self.by}=*"):
            (self.folder / part.name).mkdir(parents=True, exist_ok=True)
            for nth, file in enumerate(sorted(part.iterdir())):
                os.replace(file, self.folder / part.name / f"{number:07d}-{nth}.parquet")  # noqa: PTH105
        shutil.rmtree(on_the_way, ignore_errors=True)


@dataclass(frozen=True)
class Several:
    """Run tasks one after another on a shard."""

    tasks: tuple[Callable[[int], Any], ...]

    def __call__(self, shard: int) -> list[Any]:
        return [task(shard) for task in self.tasks]
