"""A question about re-identification, answered once and kept: who hides in how large a crowd."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from trajlab.errors import ContractError, RiskError
from trajlab.ids import digest
from trajlab.query import Query, catalogue
from trajlab.risk import knowledge, traces
from trajlab.risk.reading import open_case
from trajlab.version import versions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trajlab.progress import Progress
    from trajlab.risk.knowledge import Answer, Case, Knowledge
    from trajlab.risk.traces import Traces
    from trajlab.store import Store

ROWS_AT_ONCE = 1_000_000
"""Answers for so many people are kept in memory until they are stored, and summed up in one statement."""
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


def describe_basis(about: str, basis: str) -> str:
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
    def description(self) -> str:
        """What was searched, and what counted as a visit."""
        return describe_basis(self.about, self.basis)


def measure(
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
    what = parse_question(text, seed=seed, sample=sample, settings=settings)
    (found,) = measure_all(store, known, searched, [what], seed=seed, sample=sample, progress=progress)
    return found


def measure_all(
    store: Store,
    known: Traces,
    searched: Traces,
    kinds: Sequence[Knowledge],
    *,
    seed: int,
    sample: int | None,
    progress: Progress,
) -> list[Risk]:
    """The same for several kinds of knowledge, all or none of them; the visits are read once for all that can share."""
    known, searched = traces.load(store, known.id), traces.load(store, searched.id)
    ids = [risk_id_of(known, searched, what, seed, sample) for what in kinds]
    there = {risk_id for (risk_id,) in store.rows("select risk_id from study.risk where risk_id in $ids", ids=ids)}
    missing = {risk_id: what for risk_id, what in zip(ids, kinds, strict=True) if risk_id not in there}
    if missing:
        memo: dict[str, object] | None = {} if len(missing) > 1 else None
        with store.transaction(f"risk by {', '.join(map(knowledge.name_of, missing.values()))}"):
            _write(store, missing, known, searched, seed, sample)
            _build_targets(store, list(missing), known, searched.run_id, seed, sample)
            case = open_case(store, known.release_id, known.id, searched.id, next(iter(missing)), progress)
            case = dataclasses.replace(case, memo=memo)
            at_once = max(1, ROWS_AT_ONCE // max(len(case.targets), 1))
            for begin in range(0, len(missing), at_once):
                some = list(missing)[begin : begin + at_once]
                _answer_together(store, {risk_id: missing[risk_id] for risk_id in some}, case, progress)
                _summarise(store, some, _about(searched), progress)
    return [load(store, risk_id) for risk_id in ids]


def risk_id_of(known: Traces, searched: Traces, what: Knowledge, seed: int, sample: int | None) -> str:
    return "k" + digest(known.id, searched.id, knowledge.in_full(what), seed, sample)


def keep(
    store: Store, risk_id: str, what: Knowledge, searched: Traces, seed: int, sample: int | None, progress: Progress
) -> None:
    """Write a question of which everybody's answer is in the lab already, and its summaries."""
    _write(store, {risk_id: what}, searched, searched, seed, sample)
    _summarise(store, [risk_id], _about(searched), progress)


def _summarise(store: Store, ids: list[str], about: str, progress: Progress) -> None:
    for query in summaries():
        with progress.step(query.table, poll=store.engine.percent_done):
            if len(ids) == 1:
                store.build(query, risk_id=ids[0], about=about)
            else:
                store.build_each(query, "risk_id", ids, about=about)


def summaries() -> list[Query]:
    """What is built of every answer, in order: tables about a question that read everybody's row of it."""
    return [
        query
        for query in catalogue().values()
        if "risk_id" in query.scope and set(query.params) <= {"risk_id", "about"} and "metrics.anonymity" in query.reads
    ]


def answer_question(store: Store, risk_id: str, what: Knowledge, case: Case, progress: Progress) -> None:
    """Search, and store the answer in `metrics.anonymity` and `metrics.known_point`; call it inside a transaction."""
    _answer_together(store, {risk_id: what}, case, progress)


def _answer_together(store: Store, questions: dict[str, Knowledge], case: Case, progress: Progress) -> None:
    """The same for some questions about the same people, whose answers are stored in one go."""
    answers = {risk_id: _search(store, what, case, progress) for risk_id, what in questions.items()}
    _insert_together(store, "metrics.anonymity", {risk_id: answer.people for risk_id, answer in answers.items()})
    store.check_grain(Query.load("metrics.anonymity"), risk_id=list(answers))
    points = {risk_id: answer.points for risk_id, answer in answers.items() if answer.points is not None}
    if points:
        _insert_together(store, "metrics.known_point", points)
    if dropping := [risk_id for risk_id, answer in answers.items() if answer.dropped is not None]:
        store.execute(
            "delete from metrics.target where risk_id in $ids "
            "and (risk_id, trace) not in (select (risk_id, trace) from metrics.anonymity where risk_id in $ids)",
            ids=dropping,
        )


def _insert_together(store: Store, table: str, frames: dict[str, pl.DataFrame]) -> None:
    columns = [column.name for column in Query.load(table).columns if column.name != "risk_id"]
    if wrong := [frame.columns for frame in frames.values() if set(frame.columns) != set(columns)]:
        raise ContractError(f"{table} has columns {columns}, not {wrong[0]}")
    rows = [frame.select(pl.lit(risk_id).alias("risk_id"), *columns) for risk_id, frame in frames.items()]
    store.insert(table, pl.concat(rows, how="vertical_relaxed"))


def _search(store: Store, what: Knowledge, case: Case, progress: Progress) -> Answer:
    name = knowledge.name_of(what)
    with progress.step(name, poll=store.engine.percent_done):
        answer = what.search(case, progress.show)
    forgotten = case.targets.select("trace").join(answer.people, on="trace", how="anti")
    if answer.dropped is not None:
        forgotten = forgotten.filter(~pl.col("trace").is_in(answer.dropped.implode()))
    if len(forgotten):  # whoever adds a kind of knowledge cannot forget anybody
        raise RiskError(f"{name} gave no answer for {len(forgotten):,} people")
    return answer


def parse_question(text: str, *, seed: int, sample: int | None, settings: dict[str, Any]) -> Knowledge:
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
    (question,) = store.rows(
        "select release_id, known_id, searched_id, knowledge, seed, sample, basis, about "
        "from study.risk where risk_id = $id",
        id=risk_id,
    )
    (score,) = store.rows(
        "select people, estimate, low, high from metrics.risk "
        "where risk_id = $id and scope = 'all' and metric = 'unique_share'",
        id=risk_id,
    )
    return Risk(risk_id, *question[:6], *score, *question[6:])


def _write(
    store: Store, questions: dict[str, Knowledge], known: Traces, searched: Traces, seed: int, sample: int | None
) -> None:
    rows = [
        {
            "risk_id": risk_id,
            "release_id": known.release_id,
            "known_id": known.id,
            "searched_id": searched.id,
            "knowledge": knowledge.name_of(what),
            "in_full": knowledge.in_full(what),
            "basis": searched.basis,
            "about": _about(searched),
            "settings": json.dumps(dataclasses.asdict(what), sort_keys=True),  # type: ignore[call-overload]
            "seed": seed,
            "sample": sample,
            "versions": versions("duckdb", "polars", "numpy"),
        }
        for risk_id, what in questions.items()
    ]
    store.insert("study.risk", pl.DataFrame(rows, schema_overrides={"sample": pl.Int64}))


def _about(searched: Traces) -> str:
    return "traces" if searched.run_id is None else "table"


def _build_targets(
    store: Store, ids: list[str], known: Traces, run_id: str | None, seed: int, sample: int | None
) -> None:
    """Whom the questions look for: the same people for all of them."""
    first, *others = ids
    query = Query.load("metrics.target")
    store.build(query, risk_id=first, **about_targets(store, known, run_id, seed, sample))
    if others:
        store.clear(query, risk_id=others)
        store.execute(
            "insert into metrics.target by name select target.* replace (other.risk_id as risk_id) "
            "from metrics.target as target, (select unnest($others) as risk_id) as other "
            "where target.risk_id = $first",
            first=first,
            others=others,
        )


def about_targets(store: Store, known: Traces, run_id: str | None, seed: int, sample: int | None) -> dict[str, object]:
    """The parameters of `metrics.target`, beside the question."""
    ((days,),) = store.rows(
        "select slots // slots_per_day from counts.release where release_id = $id", id=known.release_id
    )
    return {"known_id": known.id, "run_id": run_id, "seed": str(seed), "sample": sample, "days": days}
