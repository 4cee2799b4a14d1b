"""A question about re-identification, answered on shards: the tables are those of the embedded engine, row for row."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from trajlab.cluster.crowds import ANSWERS, READS, STAGED, Asked, Run, Seen, combinations, lists, points
from trajlab.errors import LabError
from trajlab.query import Query
from trajlab.risk import run as risk
from trajlab.risk.knowledge._combinations import AnyCombination
from trajlab.risk.knowledge._lists import SameList
from trajlab.risk.knowledge._points import SomePoints

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trajlab.cluster.shard import ShardStore
    from trajlab.cluster.store import ClusterStore
    from trajlab.progress import Progress
    from trajlab.risk.knowledge import Case, Knowledge
    from trajlab.risk.traces import Traces


class Way(Protocol):
    """How one kind of question is answered."""

    def begin(self, asked: Asked, shard: int, store: ShardStore, case: Case, question: Any) -> Seen:
        """The first task of a shard."""
        ...

    def jobs(self, asked: Asked, run: Run, first: Sequence[Seen]) -> Callable[[int], tuple[int, ...]]:
        """Refuse what nobody can answer, run all jobs but the first and the last, and return that one's task."""
        ...


WAYS: dict[type, Way] = {SameList: lists, SomePoints: points, AnyCombination: combinations}


def measure(
    store: ClusterStore,
    searched: Traces,
    text: str,
    *,
    seed: int,
    sample: int | None,
    settings: dict[str, Any],
    progress: Progress,
) -> risk.Risk:
    """As `trajlab.risk.run.measure`, of the true traces behind a release; the same question twice is answered once."""
    what = risk.parse_question(text, seed=seed, sample=sample, settings=settings)
    risk_id = risk.risk_id_of(searched, searched, what, seed, sample)
    if not store.rows("select 1 from study.risk where risk_id = $id", id=risk_id):
        with store.transaction(f"risk by {text}"):
            if not store.folder.is_done(ANSWERS[-1], risk_id):
                _refuse_other_traces(store, searched)
                whom = {"risk_id": risk_id} | risk.about_targets(store, searched, None, seed, sample)
                store.build_parts(Query.load("metrics.target"), whom, STAGED)
                with progress.step(text):
                    _answer(store, risk_id, what, searched)
            for table in ANSWERS:
                store.folder.show(store.engine, table)
            risk.keep(store, risk_id, what, searched, seed, sample, progress)
    return risk.load(store, risk_id)


def _refuse_other_traces(store: ClusterStore, searched: Traces) -> None:
    if not store.folder.is_done("slots.visit", searched.id):
        raise LabError(
            f"traces {searched.id} were made by the embedded engine and are not on shards: "
            f"ask of them there, lab.embedded().risk({searched.id!r}, ...)"
        )


def _answer(store: ClusterStore, risk_id: str, what: Knowledge, searched: Traces) -> None:
    """Run the jobs of the question; what they leave for each other goes with its answer."""
    shared = store.shared("risk", READS, {"release_id": searched.release_id})
    has_top = store.folder.is_done("metrics.top_place", searched.id)
    asked = Asked(shared, risk_id, searched.id, searched.release_id, what, has_top)
    try:
        first = store.run(Begin(asked), "reading what may be known")
        finish = WAYS[type(first[0].question)].jobs(asked, store.run, first)
        written = store.run(finish, "writing everybody's answer")
    finally:
        shutil.rmtree(store.folder.work(risk_id), ignore_errors=True)
        store.folder.forget(STAGED, risk_id)
    if any(seen.top_places for seen in first):
        store.folder.mark_done("metrics.top_place", searched.id, [seen.top_places for seen in first])
        store.folder.show(store.engine, "metrics.top_place")
    for table, rows in zip(ANSWERS, zip(*written, strict=True), strict=True):
        store.folder.mark_done(table, risk_id, rows)


@dataclass(frozen=True)
class Begin:
    """Ask the kind of knowledge about a shard, and write down what the next task needs of its answer."""

    asked: Asked

    def __call__(self, shard: int) -> Seen:
        with self.asked.open(shard) as (store, case, question):
            if type(question) not in WAYS:
                raise self.asked.refusal()
            return WAYS[type(question)].begin(self.asked, shard, store, case, question)
