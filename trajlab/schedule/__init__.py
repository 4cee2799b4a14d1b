"""Schedule leakage: what anonymity sets give away of people's weekly habits (ma2017).

Somebody who knows a few points of a person finds everybody who passes through them. Who it is stays
open; but where all of them spend Tuesday afternoon, so does that person. The road: `weeks`
(slots.schedule, where everybody usually is), `lab.risk` (the sets), and from here on SQL:
metrics.habit, metrics.crowd, metrics.crowd_slot, metrics.person_leak, and their summaries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from trajlab.errors import ScheduleError
from trajlab.ids import digest
from trajlab.query import Query, tables_of
from trajlab.risk import run as risks
from trajlab.risk import traces
from trajlab.schedule import truth as truths
from trajlab.schedule.finding import timetable_of
from trajlab.schedule.timetable import dates, read
from trajlab.schedule.weeks import schedule
from trajlab.settings import whole_number
from trajlab.version import versions

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection, Iterable

    from trajlab.progress import Progress
    from trajlab.risk.run import Risk
    from trajlab.risk.traces import Traces
    from trajlab.store import Store

BLOCK = 10_000_000
"""Candidates and members of anonymity sets that are tallied at once: a gigabyte or two, which the engine may spill."""


@dataclass(frozen=True, slots=True)
class Leak:
    """One question about schedules and its answer for sets of `min_k` or more; its rows carry `id` as leak_id."""

    id: str
    release_id: str
    risk_id: str
    schedule_id: str
    points: int
    min_k: int
    weeks: int
    skipped_weeks: int
    slots: int
    people: int
    measured: float
    prob_m: float | None
    ssr: float | None
    ntr: float | None
    totally: float | None
    partly: float | None
    basis: str
    about: str

    @property
    def description(self) -> str:
        """What was searched, and what counted as a visit."""
        return risks.describe_basis(self.about, self.basis)


@dataclass(frozen=True, slots=True)
class Question:
    """The settings of a question, checked once."""

    points: int = 3
    short: str = "all"
    min_k: int = 4
    keep: float = 0.6
    seed: int = 0
    sample: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("points", 1), ("min_k", 2)):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), least, error=ScheduleError))
        if isinstance(self.keep, bool) or not isinstance(self.keep, int | float) or not 0 <= self.keep < 1:
            raise ScheduleError(f"keep is a share of the weeks from 0 to below 1, not {self.keep!r}")
        risks.parse_question(self.knowledge, seed=self.seed, sample=self.sample, settings={})

    @property
    def knowledge(self) -> str:
        return f"points:{self.points}:{self.short}"


def parse_settings(
    timetable: object, holidays: Iterable[object], truth: object
) -> tuple[object, tuple[dt.date, ...], pl.DataFrame | None]:
    """Timetable, holidays and true timetables, read from what was given; one that is to be found stays a text."""
    to_find = isinstance(timetable, str) and timetable.partition(":")[0] == "found"
    slots = timetable if to_find else read(timetable)
    return slots, dates(holidays), None if truth is None else truths.read(truth)


def leakage(
    store: Store,
    searched: Traces,
    timetable: object,
    question: Question,
    *,
    holidays: Iterable[object] = (),
    lessons: pl.DataFrame | None = None,
    progress: Progress,
) -> Leak:
    """What anonymity sets among `searched` give away of people's schedules by a timetable, given or to be found."""
    slots = timetable_of(store, searched.release_id, timetable, holidays, progress)
    known = searched
    if searched.run_id is not None:
        known = traces.of_release(store, searched.release_id, "slots", progress)
    known_schedule_id, searched_schedule_id = (schedule(store, each, slots, progress) for each in (known, searched))
    sets = risks.measure(
        store,
        known,
        searched,
        question.knowledge,
        seed=question.seed,
        sample=question.sample,
        settings={},
        progress=progress,
    )
    leak = measure(store, sets, known_schedule_id, searched_schedule_id, question, progress)
    if lessons is not None:
        truths.compare(store, leak.id, lessons, progress)
    return leak


def measure(
    store: Store, risk: Risk, known_schedule_id: str, searched_schedule_id: str, question: Question, progress: Progress
) -> Leak:
    """What the sets of `risk` give away of the known schedules; the same question twice is answered once."""
    leak_id = "l" + digest(risk.id, known_schedule_id, searched_schedule_id, question.min_k, float(question.keep))
    if not store.rows("select 1 from study.leak where leak_id = $id", id=leak_id):
        params = {
            "leak_id": leak_id,
            "risk_id": risk.id,
            "known_schedule_id": known_schedule_id,
            "searched_schedule_id": searched_schedule_id,
            "searched_traces": risk.searched_id,
            "asked_k": question.min_k,
            "keep": float(question.keep),
            "block_size": BLOCK,
        }
        with store.transaction("schedule leakage"):
            _write(store, risk, params, question)
            _build(store, params, progress)
    return load_leak(store, leak_id)


def load_leak(store: Store, leak_id: str) -> Leak:
    """An answer that the lab has."""
    leak = store.relation(Query.load("study.leak"), leak_id=leak_id).row(0, named=True)
    schedules = store.relation(Query.load("study.schedule"), schedule_id=leak["known_schedule_id"]).row(0, named=True)
    rows = store.relation(Query.load("metrics.leak"), leak_id=leak_id, min_k=leak["min_k"]).iter_rows(named=True)
    scores = {row["metric"]: row for row in rows}

    def estimate(metric: str) -> float | None:
        return scores[metric]["estimate"] if metric in scores else None

    return Leak(
        id=leak_id,
        release_id=leak["release_id"],
        risk_id=leak["risk_id"],
        schedule_id=leak["known_schedule_id"],
        points=leak["points"],
        min_k=leak["min_k"],
        weeks=schedules["weeks"],
        skipped_weeks=schedules["skipped_weeks"],
        slots=schedules["slots"],
        people=scores["measured"]["people"],
        measured=scores["measured"]["estimate"],
        prob_m=estimate("prob_m"),
        ssr=estimate("ssr"),
        ntr=estimate("ntr"),
        totally=estimate("totally_disclosed"),
        partly=estimate("partly_disclosed"),
        basis=leak["basis"],
        about=leak["about"],
    )


def _build(store: Store, params: dict[str, object], progress: Progress) -> None:
    for schedule_id in dict.fromkeys([params["known_schedule_id"], params["searched_schedule_id"]]):
        with progress.step("metrics.habit", poll=store.engine.percent_done):
            store.build(Query.load("metrics.habit"), schedule_id=schedule_id, keep=params["keep"])
    with progress.step("metrics.crowd", poll=store.engine.percent_done):
        store.build(Query.load("metrics.crowd"), **params)
    ((blocks,),) = store.rows(
        "select coalesce(max(block) + 1, 0) from metrics.crowd where leak_id = $id", id=params["leak_id"]
    )
    with progress.step("metrics.crowd_slot"):
        for block in range(blocks):
            store.build(Query.load("metrics.crowd_slot"), block=block, **params)
            progress.show(block + 1, blocks)
    for query in summaries(params):
        with progress.step(query.table, poll=store.engine.percent_done):
            store.build(query, **params)


def summaries(params: Collection[str]) -> list[Query]:
    """What is built of every answer once the sets are tallied in blocks, by its parameters."""
    return tables_of("leak_id", set(params) - {"block_size"})


def _write(store: Store, risk: Risk, params: dict[str, object], question: Question) -> None:
    row = {
        "leak_id": params["leak_id"],
        "release_id": risk.release_id,
        "risk_id": risk.id,
        "points": question.points,
        "basis": risk.basis,
        "about": risk.about,
        "known_schedule_id": params["known_schedule_id"],
        "searched_schedule_id": params["searched_schedule_id"],
        "min_k": question.min_k,
        "keep": float(question.keep),
        "versions": versions("duckdb", "polars", "numpy"),
    }
    store.insert("study.leak", pl.DataFrame([row]))
