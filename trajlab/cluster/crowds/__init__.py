"""How many traces fit what is known of everybody, when every task sees the traces of one shard alone.

The kinds of knowledge stay as they are. A task asks a kind about its shard, and the kind says what it would
compare: a list, some points, or any combination of elements (`question_of`). There is one file for each:

    lists.py         equal lists have equal signatures, and every signature is counted by one task
    points.py        every shard counts its own traces for everybody looked for; the counts are summed
    combinations.py  combinations that begin with one place are counted by one task

The last job of each writes everybody's answer on the shard of the person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from trajlab.cluster.exchange import Exchange
from trajlab.cluster.folder import Folder, text_literal
from trajlab.cluster.shard import ShardStore, Shared
from trajlab.errors import ContractError, LabError, RiskError
from trajlab.progress import Progress
from trajlab.query import Query
from trajlab.risk import knowledge
from trajlab.risk.knowledge import Answer, Case, Knowledge, Visits
from trajlab.risk.reading import open_case

ANSWERS = ("metrics.target", "metrics.known_point", "metrics.anonymity")
"""The last is written last: where it is finished, the question is answered."""
READS = ("slots.trace", "slots.visit", "counts.release", "slots.slot", "grid.cell")
STAGED = "parts.metrics.target"
"""Everybody who may be looked for, before the kind of knowledge says of whom too little is known."""


@dataclass(frozen=True)
class Asked:
    """A question as every task of it is given it."""

    shared: Shared
    risk_id: str
    traces_id: str
    release_id: str
    what: Knowledge
    has_top: bool
    """Whether metrics.top_place of these traces is finished."""

    def refusal(self) -> LabError:
        return LabError(
            f"{knowledge.name_of(self.what)} does not run on a cluster: it compares traces in a way of its own; "
            "ask it of the embedded engine, lab.embedded()"
        )

    @property
    def folder(self) -> Folder:
        return self.shared.folder

    @property
    def shards(self) -> int:
        return self.folder.shards

    def exchange(self, name: str) -> Exchange:
        return Exchange(self.folder, self.risk_id, name)

    def target_file(self, shard: int) -> Path:
        return self.folder.part(STAGED, self.risk_id, shard)

    @contextmanager
    def open(self, shard: int) -> Iterator[tuple[ShardStore, Case, Any]]:
        """The case of a shard, and what the kind of knowledge asks of it."""
        with self.shared.open(shard) as store:
            store.give("metrics.target", [str(self.target_file(shard))])
            top = self.folder.part("metrics.top_place", self.traces_id, shard)
            store.give("metrics.top_place", [str(top)] if self.has_top and top.exists() else [])
            quiet = Progress(quiet=True)
            case = open_case(store, self.release_id, self.traces_id, self.traces_id, self.risk_id, quiet)
            yield store, case, question_of(self.what, case)

    def keep_top(self, store: ShardStore, shard: int) -> int:
        """Keep the top places of the traces where the kind of knowledge made the lab remember them; how many."""
        if self.has_top or not store.rows("select 1 from metrics.top_place limit 1"):
            return 0
        path = self.folder.part("metrics.top_place", self.traces_id, shard)
        return store.write("select * from metrics.top_place", {}, path)

    def write_answer(self, store: ShardStore, shard: int, answer: Answer) -> tuple[int, ...]:
        """Write a shard's part of the tables of the answer; how many rows each has."""
        targets = store.frame("select * from metrics.target").to_arrow()
        if answer.people["trace"].n_unique() != len(answer.people):
            raise ContractError(f"{knowledge.name_of(self.what)} gave several answers for one trace")
        with store.engine.frames(answered=answer.people.select("trace")):
            kept = store.frame("select target.* from metrics.target as target semi join answered using (trace)")
        dropped = 0 if answer.dropped is None else len(answer.dropped)
        if len(kept) + dropped != len(targets):
            raise RiskError(f"{knowledge.name_of(self.what)} gave no answer for {len(targets) - len(kept):,} people")
        points = answer.points
        if points is None:
            points = pl.DataFrame(schema={"trace": pl.Int32, "rank": pl.Int32, "slot": pl.Int32, "cell": pl.UInt64})
        named = pl.lit(self.risk_id).alias("risk_id")
        frames = (kept, points.with_columns(named), answer.people.with_columns(named))
        return tuple(self._write(store, shard, *each) for each in zip(ANSWERS, frames, strict=True))

    def _write(self, store: ShardStore, shard: int, table: str, frame: pl.DataFrame) -> int:
        columns = ", ".join(f'"{c.name}"::{c.type} as "{c.name}"' for c in Query.load(table).columns)
        with store.engine.frames(rows_to_write=frame):
            path = self.folder.part(table, self.risk_id, shard)
            return store.write(f"select {columns} from rows_to_write order by trace", {}, path)  # noqa: S608


@dataclass(frozen=True)
class Seen:
    """What the first task says of its shard."""

    question: Any
    """Without what reads visits, which stays in the task."""
    longest: int
    """Most elements of those looked for."""
    targets: int
    traces: int
    most: int = 0
    """Most elements of anybody."""
    top_places: int = 0
    """Rows of metrics.top_place that were kept."""


def unread(visits: Visits) -> pl.DataFrame:
    """Stands for what reads visits, where nobody reads them any more."""
    raise NotImplementedError


Run = Callable[[Callable[[int], Any], str], list[Any]]
"""Runs a task on every shard, and says what was being done."""


def question_of(what: Knowledge, case: Case) -> Any:
    """What a kind of knowledge asks of a case, instead of its answer; None where it has a way of its own."""
    found: list[object] = []

    def note(question: object) -> Answer:
        found.append(question)
        return Answer(pl.DataFrame())

    what.search(replace(case, divided=note), lambda done, total: None)
    return found[0] if found else None


def listed(files: Iterable[Path]) -> str:
    return ", ".join(text_literal(str(file)) for file in files)
