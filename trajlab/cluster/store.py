"""A store whose large tables are built by tasks on shards, and whose small ones are in `lab.duckdb`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from trajlab.cluster import LARGE, Runner
from trajlab.cluster.folder import Folder, text_literal
from trajlab.cluster.lottery import draw
from trajlab.cluster.merging import limits, merge_sql
from trajlab.cluster.shard import AskPart, BuildPart, RunStep, Shared
from trajlab.query import Query
from trajlab.store import Store

if TYPE_CHECKING:
    from trajlab.progress import Progress

OF_A_RELEASE = ("slots.clock", "slots.slot")
OF_AN_INDEX = ("grid.cell", "grid.index")
OF_A_RUN = ("attacks.track", "metrics.pair")
"""Small tables of which a task needs the rows of its release, index or run alone."""
STEP_READS = {
    "grid.fix": ("records.fix",),
    "slots.interpolated": ("slots.observed", "slots.person", "grid.cell", "grid.index"),
}
"""What a Python step that fills a large table reads."""


class ClusterStore(Store):
    def __init__(self, folder: Folder, runner: Runner, *, task_memory: str | None = None) -> None:
        self.folder, self.runner, self.task_memory = folder, runner, task_memory
        self._at_commit: list[Callable[[], None]] = []
        self._answers: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
        super().__init__(str(folder.path), memory_limit=task_memory, folder=folder)
        self._forget_records_of_nothing()

    def _forget_records_of_nothing(self) -> None:
        """Records whose sources the lab does not know: an ingest was cut off just before its end."""
        ((newest,),) = self.rows("select coalesce(max(source_id), 0) from records.source")
        for table in ("records.fix", "records.person", "records.rejected", "records.call"):
            for mark in (self.folder.path / "tables" / table).glob("from-*/_done.json"):
                if int(mark.parent.name.removeprefix("from-")) > newest:
                    mark.unlink()  # the files stay: the same ingest again may have done all but its end
                    self.folder.show(self.engine, table)

    def at_commit(self, do: Callable[[], None]) -> None:
        """Do it once the transaction is final."""
        self._at_commit.append(do)

    @contextmanager
    def transaction(self, doing: str) -> Iterator[None]:
        outermost = not self._inside
        with super().transaction(doing):
            yield
        if outermost:
            done, self._at_commit = self._at_commit, []
            for do in done:
                do()

    def take_back(self) -> None:
        """Remove a folder that this opening made, unless it holds finished work that the next call goes on from."""
        self.engine.close()
        if self._made_here and not self.folder.has_finished_work():
            self.folder.remove()

    def build(self, query: Query, **params: object) -> None:
        if query.table in LARGE:
            self._build_large(query, params)
        elif query.merge and set(query.reads) & set(LARGE):
            self._build_merged(query, params)
        else:
            super().build(query, **params)

    def clear(self, query: Query, **scope: object) -> None:
        if query.table not in LARGE:  # a large one is named after what it is made of, and made once
            super().clear(query, **scope)

    def totals(self, sql: str, merge: str, /, **params: object) -> list[tuple[Any, ...]]:
        reads = tuple(table for table in LARGE if re.search(rf"\b{re.escape(table)}\b", sql))
        question = (sql, merge, repr(sorted(params.items())), *(tuple(self.folder.keys(table)) for table in reads))
        if question not in self._answers:
            task = AskPart(self.shared("counting", reads), sql, params)
            parts = pa.concat_tables(self.run(task, "counting"), promote_options="permissive")
            self._answers[question] = self._merged(parts, merge, params)
        return self._answers[question]

    def _merged(self, parts: pa.Table, merge: str, params: dict[str, Any]) -> list[tuple[Any, ...]]:
        with self.engine.frames(shard_rows=parts):
            used = {name: params[name] for name in limits(merge.partition("order by")[0])}
            return self.rows(merge_sql(merge, parts.column_names, "shard_rows"), **used)

    def by_person(
        self, table: str, step: Callable[[Store, Progress], None], progress: Progress, **scope: object
    ) -> None:
        key = key_of(scope)
        if not self.folder.is_done(table, key):
            shared = self.shared(f"building {table}", STEP_READS[table], scope)
            rows = self.run(RunStep(shared, table, key, step), f"building {table}")
            self.folder.mark_done(table, key, rows)
        self.folder.show(self.engine, table)

    def run(self, task: Callable[[int], Any], doing: str, tasks: int | None = None) -> list[Any]:
        """What the task returns of every shard."""
        return self.runner.run(task, self.folder.shards if tasks is None else tasks, doing)

    def shared(self, doing: str, reads: tuple[str, ...], scope: dict[str, Any] | None = None) -> Shared:
        small = {table: self._small(table, scope or {}) for table in reads if table not in LARGE}
        return Shared(self.folder, doing, reads, small, self.task_memory)

    def _small(self, table: str, scope: dict[str, Any]) -> pa.Table:
        of = {"release_id": OF_A_RELEASE, "index_id": OF_AN_INDEX, "run_id": OF_A_RUN}
        name = next((name for name, tables in of.items() if table in tables), None)
        if name == "index_id" and name not in scope:
            ((scope["index_id"],),) = self.rows(
                "select index_id from counts.release where release_id = $id", id=scope["release_id"]
            )
        if name is None:
            return self.frame(f"select * from {table}").to_arrow()  # noqa: S608
        return self.frame(f"select * from {table} where {name} = $it", it=scope[name]).to_arrow()  # noqa: S608

    def _build_large(self, query: Query, params: dict[str, Any]) -> None:
        key = key_of({name: params[name] for name in query.scope})
        if not self.folder.is_done(query.table, key):
            doing = f"building {query.table} from {query.file}"
            shared = self.shared(doing, query.reads, params)
            task = BuildPart(shared, query.table, key, _used(query, params), self._by_shard(query, params))
            self.folder.mark_done(query.table, key, self.run(task, doing))
        self.folder.show(self.engine, query.table)

    def build_parts(self, query: Query, params: dict[str, Any], into: str) -> None:
        """Run the file on every shard and keep its rows for other tasks, in no table that anybody reads."""
        key = key_of({name: params[name] for name in query.scope})
        if not self.folder.is_done(into, key):
            doing = f"building {query.table} from {query.file}"
            shared = self.shared(doing, query.reads, params)
            task = BuildPart(shared, query.table, key, _used(query, params), self._by_shard(query, params), into)
            self.folder.mark_done(into, key, self.run(task, doing))

    def _by_shard(self, query: Query, params: dict[str, Any]) -> dict[str, list[object]]:
        """Parameters that are not the same for all shards: how many of the people drawn are in each."""
        if query.table == "slots.person" and params["people"] is not None:
            everybody = {**params, "people": None}
            return {"people": list(draw(self, query, everybody, "3_slots/_tickets", params["people"]))}
        if query.table == "metrics.target" and params["sample"] is not None:
            everybody = {**params, "sample": None}
            return {"sample": list(draw(self, query, everybody, "6_metrics/_target_tickets", params["sample"]))}
        return {}

    def _build_merged(self, query: Query, params: dict[str, Any]) -> None:
        """Sum what shards counted; their counts stay until the sum is in the lab."""
        key, into = key_of({name: params[name] for name in query.scope}), f"parts.{query.table}"
        doing = f"building {query.table} from {query.file}"
        if not self.folder.is_done(into, key):
            shared = self.shared(doing, query.reads, params)
            apart = _used(query, params) | dict.fromkeys(limits(query.merge), 1)
            task = BuildPart(shared, query.table, key, apart, {}, into)
            self.folder.mark_done(into, key, self.run(task, doing))
        Store.clear(self, query, **{name: params[name] for name in query.scope})
        files = [str(self.folder.part(into, key, shard)) for shard in range(self.folder.shards)]
        rows = f"read_parquet([{', '.join(map(text_literal, files))}])"
        merged = merge_sql(query.merge, [column.name for column in query.columns], rows)
        self.execute(
            f"insert into {query.table} by name {merged}", **{name: params[name] for name in limits(query.merge)}
        )
        self.check_grain(query, **{name: params[name] for name in query.scope})
        self.folder.forget(into, key)


def key_of(scope: dict[str, Any]) -> str:
    return "-".join(str(value) for value in scope.values()) or "all"


def _used(query: Query, params: dict[str, Any]) -> dict[str, Any]:
    return {name: params[name] for name in query.params}
