"""The questions about re-identification that were asked of a release, and what to call them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from trajlab.report import naming, words
from trajlab.report.contents import Contents, Published
from trajlab.report.evidence import Answer, Show
from trajlab.risk.run import describe_basis

RISK = """
with score as (
    select
        risk_id,
        max(people) as people,
        max(estimate) filter (metric = 'unique_share') as singled_out,
        max(low) filter (metric = 'unique_share') as low,
        max(high) filter (metric = 'unique_share') as high,
        max(estimate) filter (metric = 'mean_risk') as mean_risk,
        max(estimate) filter (metric = 'worst_decile_risk') as worst_tenth,
        max(estimate) filter (metric = 'k_percentile' and level = 50) as median_crowd
    from metrics.risk
    where scope = 'all'
    group by risk_id
),

exposing as (
    select
        risk_id,
        count(*) filter (kind = 'cell') as cells,
        count(*) filter (kind = 'slot') as slots
    from metrics.exposure
    group by risk_id
)

select
    asked.risk_id,
    asked.searched_id,
    searched.protection,
    asked.knowledge,
    asked.basis,
    asked.about,
    asked.seed,
    asked.sample,
    score.people,
    searched.traces,
    score.singled_out,
    score.low,
    score.high,
    1 / searched.traces::double as blind_guess,
    score.mean_risk,
    score.worst_tenth,
    score.median_crowd,
    coalesce(exposing.cells, 0) as exposing_cells,
    coalesce(exposing.slots, 0) as exposing_slots
from study.risk as asked
join study.traces as searched on searched.traces_id = asked.searched_id
join score on score.risk_id = asked.risk_id
left join exposing on exposing.risk_id = asked.risk_id
where asked.release_id = $release_id and score.singled_out is not null
order by
    case split_part(asked.knowledge, ':', 1) when 'top' then 1 when 'points' then 2 when 'cont' then 3 else 4 end,
    split_part(asked.knowledge, ':', 1),
    length(split_part(asked.knowledge, ':', 2)),
    asked.knowledge,
    asked.seed,
    asked.sample nulls first,
    searched.run_id nulls first,
    searched.protection <> 'none',
    length(searched.protection),
    searched.protection,
    searched.basis desc,
    asked.risk_id
"""

SEARCHED = """
select
    traces.traces_id,
    traces.basis,
    traces.protection,
    traces.run_id,
    run.attack,
    run.settings,
    run.seed,
    traces.traces
from study.traces as traces
left join study.run as run on run.run_id = traces.run_id
where traces.release_id = $release_id
    and traces.traces_id in (select searched_id from study.risk)
order by
    traces.run_id nulls first,
    traces.protection <> 'none',
    length(traces.protection),
    traces.protection,
    traces.basis desc
"""

SHARES: Show = dict.fromkeys(
    ("singled_out", "low", "high", "blind_guess", "mean_risk", "worst_tenth", "share"), words.share
)


@dataclass(frozen=True)
class Asked:
    """The questions about one release: their answers, and what to call what is known and what is searched."""

    answer: Answer
    rows: list[dict[str, Any]]
    what: dict[str, str]
    where: dict[str, str]

    @classmethod
    def of(cls, contents: Contents, release: Published) -> Asked | None:
        answer = contents.ask(RISK, release_id=release.id)
        if not len(answer.frame):
            return None
        rows = list(answer.frame.iter_rows(named=True))
        answered = {row["searched_id"] for row in rows}
        searched = (
            contents.ask(SEARCHED, release_id=release.id)
            .frame.filter(pl.col("traces_id").is_in(answered))
            .rows(named=True)
        )
        run_names = naming.runs([row for row in searched if row["attack"] is not None])
        return cls(answer, rows, naming.questions(rows), naming.traces(searched, run_names))

    @property
    def lead(self) -> dict[str, Any]:
        """The question that singles out the largest share, on the first set of traces: the true ones if asked.

        Those about the most telling combination come last: nobody comes by such knowledge by chance.
        """
        return max(self._of_first, key=lambda row: (not naming.picks_the_worst(row["knowledge"]), share(row)))

    @property
    def compared(self) -> dict[str, Any]:
        """Of the first set of traces, the question that was asked of most others too; the worst among equals."""
        return max(self._of_first, key=lambda row: (len(self.alike(row)), share(row)))

    @property
    def _of_first(self) -> list[dict[str, Any]]:
        first = next(iter(self.where))
        return [row for row in self.rows if row["searched_id"] == first]

    def alike(self, row: dict[str, Any]) -> list[dict[str, Any]]:
        """The same question on every set of traces, true ones first."""
        return [other for other in self.rows if self.what[other["risk_id"]] == self.what[row["risk_id"]]]

    def worst(self, column: str) -> dict[str, Any] | None:
        """The question with the largest share among those that have something in a column."""
        return max((row for row in self.rows if row[column]), key=share, default=None)

    def called(self, row: dict[str, Any]) -> str:
        return f"{self.what[row['risk_id']]}, {self.where[row['searched_id']]}"

    @property
    def told(self) -> list[str]:
        """What was searched and what counted as a visit, once each, in the order of the sets of traces."""
        order = list(self.where)
        rows = sorted(self.rows, key=lambda row: order.index(row["searched_id"]))
        said = dict.fromkeys(f"{describe_basis(row['about'], row['basis'])}." for row in rows)
        return [words.capitalised(each) for each in said]

    @property
    def show(self) -> Show:
        names = {row["risk_id"]: self.called(row) for row in self.rows}
        known = {row["knowledge"]: f"{naming.knowledge(row['knowledge'])} ({row['knowledge']})" for row in self.rows}
        return {
            **SHARES,
            "risk_id": lambda risk_id: names.get(risk_id, risk_id),
            "searched_id": lambda traces_id: self.where.get(traces_id, traces_id),
            "knowledge": lambda text: known.get(text, text),
        }


def those(*rows: dict[str, Any]) -> str:
    """Who was looked for: people, or the pieces that a protection made of them."""
    sizes = sorted({int(row["people"]) for row in rows})
    many = words.number(sizes[0]) if len(sizes) == 1 else f"{words.number(sizes[0])} to {words.number(sizes[-1])}"
    if rows[0]["protection"] == "none":
        return f"{many} person" if sizes == [1] else f"{many} people"
    return f"{many} piece of a trace" if sizes == [1] else f"{many} pieces of traces"


def share(row: dict[str, Any]) -> float:
    return float(row["singled_out"])


def interval(row: dict[str, Any]) -> str:
    return f"{words.share(row['low'])} to {words.share(row['high'])}"
