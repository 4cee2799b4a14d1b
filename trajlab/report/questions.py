"""The questions about re-identification that were asked of a release, and what to call them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from trajlab.report import naming, words
from trajlab.report.contents import Contents, Published
from trajlab.report.evidence import Answer, Show
from trajlab.risk.run import describe_basis

QUESTIONS = """\
from report.reidentification
where release_id = $release_id order by rank"""
SEARCHED = """\
from report.searched_traces
where release_id = $release_id order by rank"""

SHARES: Show = dict.fromkeys(
    ("unique_share", "low", "high", "blind_guess", "mean_risk", "worst_decile_risk", "share"), words.share
)
HEADS = {"unique_share": "Singled out", "worst_decile_risk": "Worst tenth", "median_k": "Median crowd"}


@dataclass(frozen=True)
class Questions:
    """The questions about one release: their answers, and what to call what is known and what is searched."""

    answer: Answer
    rows: list[dict[str, Any]]
    knowledge: dict[str, str]
    traces: dict[str, str]

    @classmethod
    def of(cls, contents: Contents, release: Published) -> Questions | None:
        answer = contents.load_answer(QUESTIONS, release_id=release.id)
        if not len(answer.frame):
            return None
        rows = list(answer.frame.iter_rows(named=True))
        answered = {row["searched_id"] for row in rows}
        searched = (
            contents.load_answer(SEARCHED, release_id=release.id)
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
        return _most_telling(self._of_first)

    @property
    def leads(self) -> list[dict[str, Any]]:
        """The same of what was recovered from the table, and of the traces behind it, where either was asked."""
        recovered = [row for row in self.rows if row["about"] == "table"]
        leads = [_most_telling(recovered)] if recovered else []
        return leads + ([self.lead] if self.lead["about"] == "traces" else [])

    @property
    def compared(self) -> dict[str, Any]:
        """Of the first set of traces, the question that was asked of most others too; the worst among equals."""
        return max(self._of_first, key=lambda row: (len(self.same_question(row)), share(row)))

    @property
    def _of_first(self) -> list[dict[str, Any]]:
        first = next(iter(self.traces))
        return [row for row in self.rows if row["searched_id"] == first]

    def same_question(self, row: dict[str, Any]) -> list[dict[str, Any]]:
        """The same question on every set of traces, true ones first."""
        return [other for other in self.rows if self.knowledge[other["risk_id"]] == self.knowledge[row["risk_id"]]]

    def worst(self, column: str) -> dict[str, Any] | None:
        """The question with the largest share among those that have something in a column."""
        return max((row for row in self.rows if row[column]), key=share, default=None)

    def name_of(self, row: dict[str, Any]) -> str:
        return f"{self.knowledge[row['risk_id']]}, {self.traces[row['searched_id']]}"

    @property
    def notes(self) -> list[str]:
        """What was searched and what counted as a visit, once each, in the order of the sets of traces."""
        order = list(self.traces)
        rows = sorted(self.rows, key=lambda row: order.index(row["searched_id"]))
        sentences = dict.fromkeys(f"{describe_basis(row['about'], row['basis'])}." for row in rows)
        return [words.upper_first(each) for each in sentences]

    @property
    def show(self) -> Show:
        names = {row["risk_id"]: self.name_of(row) for row in self.rows}
        known = {row["knowledge"]: f"{naming.knowledge(row['knowledge'])} ({row['knowledge']})" for row in self.rows}
        return {
            **SHARES,
            "risk_id": lambda risk_id: names.get(risk_id, risk_id),
            "searched_id": lambda traces_id: self.traces.get(traces_id, traces_id),
            "knowledge": lambda text: known.get(text, text),
        }


def _most_telling(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return max(rows, key=lambda row: (not naming.picks_the_worst(row["knowledge"]), share(row)))


def count_targets(*rows: dict[str, Any]) -> str:
    """Who was looked for: people, or the pieces that a protection made of them."""
    sizes = sorted({int(row["people"]) for row in rows})
    many = words.number(sizes[0]) if len(sizes) == 1 else f"{words.number(sizes[0])} to {words.number(sizes[-1])}"
    if rows[0]["protection"] == "none":
        return f"{many} person" if sizes == [1] else f"{many} people"
    return f"{many} piece of a trace" if sizes == [1] else f"{many} pieces of traces"


def share(row: dict[str, Any]) -> float:
    return float(row["unique_share"])


def interval(row: dict[str, Any]) -> str:
    return f"{words.share(row['low'])} to {words.share(row['high'])}"
