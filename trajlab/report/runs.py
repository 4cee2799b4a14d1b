"""The runs of attacks that the report draws: their names, how they compare, and which is right most often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from trajlab.report import naming, words
from trajlab.report.contents import Contents, Published
from trajlab.report.evidence import Show

RUNS = """\
from report.attack_run
where release_id = $release_id order by run_rank"""

ACCURACY = """\
select run_id, level, people, estimate, low, high, shuffle, stay, control
from report.accuracy where release_id = $release_id and pairing = $pairing
order by run_rank, level"""

_SHARES: Show = dict.fromkeys(("estimate", "low", "high", "shuffle", "stay", "control", "share"), words.share)


@dataclass(frozen=True)
class Best:
    """A run, by the row of its final score."""

    release: Published
    name: str
    pairing: str
    score: dict[str, Any]

    @property
    def run_id(self) -> str:
        return str(self.score["run_id"])


def best_run(contents: Contents) -> Best | None:
    """The attack that is right most often, on any release; None where none was run, or none can be scored."""
    found = []
    for release in contents.releases:
        answer = contents.load_answer(RUNS, release_id=release.id)
        if not len(answer.frame):
            continue
        runs = Runs.of(list(answer.frame.iter_rows(named=True)))
        accuracy = contents.load_answer(ACCURACY, release_id=release.id, pairing=runs.pairing)
        best = runs.best(accuracy.frame) if len(accuracy.frame) else None
        if best is not None and best["run_id"] in runs.skilled:
            found.append(Best(release, runs.names[best["run_id"]], runs.pairing, best))
    return max(found, key=lambda each: float(each.score["estimate"]), default=None)


@dataclass(frozen=True)
class Runs:
    """The runs on one release: what to call them, and the pairing by which they can be compared."""

    names: dict[str, str]
    pairing: str
    skilled: list[str]
    """Those that are more than yardsticks."""

    @classmethod
    def of(cls, rows: list[dict[str, Any]]) -> Runs:
        pairing = "optimal" if all(row["optimal"] for row in rows) else "greedy"
        return cls(
            naming.runs(rows), pairing, [row["run_id"] for row in rows if row["attack"] not in naming.YARDSTICKS]
        )

    def best(self, accuracy: pl.DataFrame) -> dict[str, Any] | None:
        """The final score of the attack that is right most often; of a yardstick where nothing else was run."""
        final = accuracy.filter(level=3)
        skilled = final.filter(pl.col("run_id").is_in(self.skilled))
        ranked = (skilled if len(skilled) else final).sort("estimate", "run_id", descending=[True, False])
        return ranked.row(0, named=True) if len(ranked) else None

    @property
    def show(self) -> Show:
        return {**_SHARES, "run_id": lambda run_id: self.names.get(run_id, run_id)}
