"""A question about re-identification, answered once and kept: who hides in how large a crowd."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from trajlab.errors import RiskError
from trajlab.ids import digest
from trajlab.query import Query
from trajlab.risk import knowledge, traces
from trajlab.risk.knowledge import Question
from trajlab.version import versions

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.risk.traces import Traces
    from trajlab.store import Store

SUMMARIES = ("metrics.anonymity_curve", "metrics.exposure", "metrics.risk", "metrics.risk_by_group")
"""What is built of every answer, in this order."""
SEARCHED = {
    "traces": "true traces are searched, not the published counts: what min_count leaves out of these changes nothing",
    "table": "tracks recovered from the published counts are searched",
}
VISITS = {
    "slots": "a visit is a slot, filled ones included (basis slots)",
    "observed": "a visit is a slot with a record (basis observed)",
    "records": "a visit is a record (basis records)",
    "recovered": "a visit is a slot of a track (basis recovered)",
}


def told(about: str, basis: str) -> str:
    """What a share of people singled out is about, and what counted as a visit: goes beside every such number."""
    return f"{SEARCHED[about]}; {VISITS[basis]}"


@dataclass(frozen=True, slots=True)
class Risk:
    """One question and its answer; its rows in the lab carry `id` as risk_id."""

    id: str
    release_id: str
    known_id: str
    searched_id: str
    knowledge: str
    seed: int
    sample: int | None
    people: int
    unique_share: float
    low: float
    high: float
    basis: str
    about: str

    @property
    def told(self) -> str:
        """What was searched, and what counted as a visit."""
        return told(self.about, self.basis)


def ask(
    store: Store,
    known: Traces,
    searched: Traces,
    text: str,
    *,
    seed: int,
    sample: int | None,
    settings: dict[str, Any],
    progress: Progress,
) -> Risk:
    """How well people of `known` are hidden among `searched`; the same question twice is answered once."""
    what = understood(text, seed=seed, sample=sample, settings=settings)
    known, searched = traces.load(store, known.id), traces.load(store, searched.id)
    named = knowledge.name_of(what)
    risk_id = "k" + digest(known.id, searched.id, knowledge.in_full(what), seed, sample)
    question = Question(risk_id, known.release_id, known.id, searched.id)
    if not store.rows("select 1 from study.risk where risk_id = $id", id=risk_id):
        with store.transaction(f"risk by {named}"):
            about = "traces" if searched.run_id is None else "table"
            _write(store, question, what, searched.basis, about, seed, sample)
            _targets(store, question, searched.run_id, seed, sample)
            with progress.step(named, poll=store.engine.percent_done):
                what.search(store, question, progress)
            _check(store, question, named)
            for table in SUMMARIES:
                with progress.step(table, poll=store.engine.percent_done):
                    store.build(Query.load(table), risk_id=risk_id, about=about)
    return load(store, risk_id)


def understood(text: str, *, seed: int, sample: int | None, settings: dict[str, Any]) -> knowledge.Knowledge:
    """What is known, once the question makes sense whatever the traces: refuse it before they are built."""
    what = knowledge.load(text, **settings)
    for name, value, least in (("seed", seed, 0), ("sample", sample, 1)):
        if value is None and name == "sample":
            continue
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**63:
            raise RiskError(f"{name} must be a whole number, {least} or more, not {value!r}")
    return what


def load(store: Store, risk_id: str) -> Risk:
    """An answer that the lab has."""
    (found,) = store.rows(
        """
        select asked.release_id, asked.known_id, asked.searched_id, asked.knowledge, asked.seed, asked.sample,
            score.people, score.estimate, score.low, score.high, asked.basis, asked.about
        from study.risk as asked
        join metrics.risk as score using (risk_id)
        where risk_id = $id and score.scope = 'all' and score.metric = 'unique_share'
        """,
        id=risk_id,
    )
    return Risk(risk_id, *found)


def _write(
    store: Store,
    question: Question,
    what: knowledge.Knowledge,
    basis: str,
    about: str,
    seed: int,
    sample: int | None,
) -> None:
    row = {
        "risk_id": question.risk_id,
        "release_id": question.release_id,
        "known_id": question.known_id,
        "searched_id": question.searched_id,
        "knowledge": knowledge.name_of(what),
        "in_full": knowledge.in_full(what),
        "basis": basis,
        "about": about,
        "settings": json.dumps(dataclasses.asdict(what), sort_keys=True),  # type: ignore[call-overload]
        "seed": seed,
        "sample": sample,
        "versions": versions("duckdb", "polars", "numpy"),
    }
    store.insert("study.risk", pl.DataFrame([row], schema_overrides={"sample": pl.Int64}))


def _targets(store: Store, question: Question, run_id: str | None, seed: int, sample: int | None) -> None:
    ((days,),) = store.rows(
        "select slots // slots_per_day from counts.release where release_id = $id", id=question.release_id
    )
    store.build(
        Query.load("metrics.target"),
        risk_id=question.risk_id,
        known_id=question.known_id,
        run_id=run_id,
        seed=str(seed),
        sample=sample,
        days=days,
    )


def _check(store: Store, question: Question, named: str) -> None:
    """Whoever adds a kind of knowledge cannot forget anybody."""
    ((forgotten,),) = store.rows(
        "select count(*) from metrics.target anti join metrics.anonymity using (risk_id, trace) where risk_id = $id",
        id=question.risk_id,
    )
    if forgotten:
        raise RiskError(f"{named} gave no answer for {forgotten:,} people")
    store.check_grain(Query.load("metrics.anonymity"), risk_id=question.risk_id)
