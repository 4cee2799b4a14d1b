"""Risk after a generalisation: how many people are singled out in generalised traces (metrics.generalised_risk).

A curve of fourteen generalisations needs fourteen sets of traces, each as large as the first. Only their risk
is wanted, so each set is made in a rehearsal: questions are those of `lab.risk`, and nothing else stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from trajlab.errors import UnknownNameError, UtilityError
from trajlab.ids import digest
from trajlab.query import step
from trajlab.risk import knowledge, traces
from trajlab.risk import run as risk

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.store import Store
    from trajlab.utility.sides import Before, Side

ANSWER = (
    "select scope, people, estimate as unique_share, low, high from metrics.risk "
    "where risk_id = $id and metric = 'unique_share'"
)


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions of a trade-off, checked once; knowledge by its full name."""

    knowledge: tuple[str, ...]
    basis: str
    seed: int
    sample: int | None

    @classmethod
    def of(cls, known: Sequence[str], basis: str, seed: int, sample: int | None) -> Questions:
        if basis not in traces.BASES:
            raise UnknownNameError("basis", basis, traces.BASES)
        for text in known:
            if not isinstance(text, str):
                raise UtilityError(f"what is known is named by a text such as 'top:2', not {text!r}")
        names = [knowledge.name_of(risk.parse_question(text, seed=seed, sample=sample, settings={})) for text in known]
        return cls(tuple(dict.fromkeys(names)), basis, seed, sample)

    def __repr__(self) -> str:
        """Part of the digest that is the id of a trade-off: labs that have one find it by this text."""
        return f"Asked(knowledge={self.knowledge!r}, basis={self.basis!r}, seed={self.seed!r}, sample={self.sample!r})"

    def key(self, release_id: str, coarse_id: int) -> dict[str, object]:
        return {
            "release_id": release_id,
            "coarse_id": coarse_id,
            "basis": self.basis,
            "seed": self.seed,
            "sample": self.sample,
        }


def measure(store: Store, before: Before, side: Side, questions: Questions, progress: Progress) -> None:
    """Make sure that metrics.generalised_risk has every answer for these cells; the release's own need no mapping."""
    key = questions.key(before.release_id, side.index_id)
    known = {name for (name,) in store.rows(_ANSWERED, **key)}
    missing = [name for name in questions.knowledge if name not in known]
    if not missing:
        return
    whole = traces.of_release(store, before.release_id, questions.basis, progress)
    answers = []
    with store.rehearsal(f"risk after {side.index.name}"):
        searched = (
            whole if side.index_id == before.side.index_id else _generalised(store, before, side, whole, progress)
        )
        for name in missing:
            found = risk.measure(
                store,
                searched,
                searched,
                name,
                seed=questions.seed,
                sample=questions.sample,
                settings={},
                progress=progress,
            )
            answers.append(store.frame(ANSWER, id=found.id).with_columns(knowledge=pl.lit(name)))
    kept = pl.concat(answers).with_columns(
        release_id=pl.lit(before.release_id),
        coarse_id=pl.lit(side.index_id, pl.UInt64),
        basis=pl.lit(questions.basis),
        seed=pl.lit(questions.seed, pl.Int64),
        sample=pl.lit(questions.sample, pl.Int64),
    )
    with store.transaction(f"risk after {side.index.name}"):
        store.insert("metrics.generalised_risk", kept)


_ANSWERED = (
    "select distinct knowledge from metrics.generalised_risk where release_id = $release_id "
    "and coarse_id = $coarse_id and basis = $basis and seed = $seed and sample is not distinct from $sample"
)


def _generalised(store: Store, before: Before, side: Side, whole: traces.Traces, progress: Progress) -> traces.Traces:
    ids = {"traces_id": "t" + digest(whole.id, side.index_id), "source_id": whole.id}
    cells = {"index_id": before.side.index_id, "coarse_id": side.index_id}
    with progress.step(f"traces in {side.index.name}", poll=store.engine.percent_done):
        store.execute(f"insert into slots.trace by name {step('3_slots/_generalised_trace')}", **ids)
        store.execute(f"insert into slots.visit by name {step('3_slots/_generalised_visit')}", **ids, **cells)
    return traces.describe(
        store, ids["traces_id"], before.release_id, None, whole.basis, f"generalise:{side.index.name}"
    )
