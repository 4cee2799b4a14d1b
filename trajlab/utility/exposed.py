"""How many people are singled out in generalised traces: asked, noted, and the traces undone again.

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
from trajlab.risk import knowledge, traces
from trajlab.risk import run as risk

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.store import Store
    from trajlab.utility.sides import Before, Side

TRACES = """
insert into slots.trace by name
select $coarse_traces as traces_id, trace, person, part, pseudonym, records
from slots.trace
where traces_id = $traces
"""

VISITS = """
insert into slots.visit by name
select
    $coarse_traces as traces_id,
    visit.trace,
    visit.slot,
    larger.coarse as cell,
    sum(visit.visits)::bigint as visits
from slots.visit as visit
join grid.generalised as larger
    on larger.index_id = $index_id and larger.coarse_id = $coarse_id and larger.cell = visit.cell
where visit.traces_id = $traces
group by visit.trace, visit.slot, larger.coarse
"""

ANSWER = """
select scope, people, estimate as unique_share, low, high
from metrics.risk
where risk_id = $id and metric = 'unique_share'
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """The questions of a trade-off, checked once; knowledge by its full name."""

    knowledge: tuple[str, ...]
    basis: str
    seed: int
    sample: int | None

    @classmethod
    def of(cls, known: Sequence[str], basis: str, seed: int, sample: int | None) -> Asked:
        if basis not in traces.BASES:
            raise UnknownNameError("basis", basis, traces.BASES)
        for text in known:
            if not isinstance(text, str):
                raise UtilityError(f"what is known is named by a text such as 'top:2', not {text!r}")
        names = [knowledge.name_of(risk.parse_question(text, seed=seed, sample=sample, settings={})) for text in known]
        return cls(tuple(dict.fromkeys(names)), basis, seed, sample)

    def key(self, release_id: str, coarse_id: int) -> dict[str, object]:
        return {
            "release_id": release_id,
            "coarse_id": coarse_id,
            "basis": self.basis,
            "seed": self.seed,
            "sample": self.sample,
        }


def answered(store: Store, before: Before, side: Side, asked: Asked, progress: Progress) -> None:
    """Make sure that metrics.generalised_risk has every answer for these cells; the release's own need no mapping."""
    key = asked.key(before.release_id, side.index_id)
    known = {name for (name,) in store.rows(_KNOWN, **key)}
    missing = [name for name in asked.knowledge if name not in known]
    if not missing:
        return
    whole = traces.of_release(store, before.release_id, asked.basis, progress)
    answers = []
    with store.rehearsal(f"risk after {side.index.name}"):
        searched = (
            whole if side.index_id == before.side.index_id else _generalised(store, before, side, whole, progress)
        )
        for name in missing:
            found = risk.measure(
                store, searched, searched, name, seed=asked.seed, sample=asked.sample, settings={}, progress=progress
            )
            answers.append(store.frame(ANSWER, id=found.id).with_columns(knowledge=pl.lit(name)))
    kept = pl.concat(answers).with_columns(
        release_id=pl.lit(before.release_id),
        coarse_id=pl.lit(side.index_id, pl.UInt64),
        basis=pl.lit(asked.basis),
        seed=pl.lit(asked.seed, pl.Int64),
        sample=pl.lit(asked.sample, pl.Int64),
    )
    with store.transaction(f"risk after {side.index.name}"):
        store.insert("metrics.generalised_risk", kept)


_KNOWN = """
select distinct knowledge
from metrics.generalised_risk
where
    release_id = $release_id
    and coarse_id = $coarse_id
    and basis = $basis
    and seed = $seed
    and sample is not distinct from $sample
"""


def _generalised(store: Store, before: Before, side: Side, whole: traces.Traces, progress: Progress) -> traces.Traces:
    ids = {"coarse_traces": "t" + digest(whole.id, side.index_id), "traces": whole.id}
    with progress.step(f"traces in {side.index.name}", poll=store.engine.percent_done):
        store.con.execute(TRACES, ids)
        store.con.execute(VISITS, ids | {"index_id": before.side.index_id, "coarse_id": side.index_id})
    return traces.describe(
        store, ids["coarse_traces"], before.release_id, None, whole.basis, f"generalise:{side.index.name}"
    )
