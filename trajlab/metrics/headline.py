"""From values per person to the scores of a run, each with its interval."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from trajlab.metrics.bootstrap import intervals

SCORES = {
    "night_accuracy": ("accuracy", 1),
    "day_accuracy": ("accuracy", 2),
    "accuracy": ("accuracy", 3),
    "levenshtein": ("levenshtein", 3),
    "error_m": ("error_m", 3),
    "within_1000m": ("within_1000m", 3),
    "beyond_1000m": ("beyond_1000m", 3),
}
"""Columns of metrics.person_recovery, and the metric and level of metrics.recovery that their mean is."""

SCHEMA = {
    "of": pl.String,
    "metric": pl.String,
    "level": pl.Int32,
    "pairing": pl.String,
    "people": pl.Int64,
    "estimate": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
}


@dataclass(frozen=True, slots=True)
class _Score:
    of: str
    metric: str
    level: int
    pairing: str
    values: npt.NDArray[np.float64]


def headline(people: pl.DataFrame, sets: pl.DataFrame, *, seed: int, replicates: int) -> pl.DataFrame:
    """One row per score that somebody has a value for.

    `people` has the columns of metrics.person_recovery, in the order of the persons; `sets` those of
    metrics.top_set, in the order of the members.
    """
    scores = [score for score in (*_recovered(people), *_shared(sets)) if np.isfinite(score.values).any()]
    rows: list[tuple[object, ...]] = []
    for size in {len(score.values): None for score in scores}:  # people or tracks: drawn together when as many
        same = [score for score in scores if len(score.values) == size]
        means = intervals(np.stack([score.values for score in same], axis=1), seed=seed, replicates=replicates)
        rows += [
            (score.of, score.metric, score.level, score.pairing, int(np.isfinite(score.values).sum()), *mean)
            for score, *mean in zip(same, *(np.asarray(part).tolist() for part in means), strict=True)
        ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row").sort("of", "metric", "level", "pairing")


def _recovered(people: pl.DataFrame) -> Iterator[_Score]:
    for (pairing,), paired in people.group_by("pairing", maintain_order=True):
        for column, (metric, level) in SCORES.items():
            yield _Score("recovered", metric, level, str(pairing), _values(paired[column]))


def _shared(sets: pl.DataFrame) -> Iterator[_Score]:
    for (of, places), members in sets.group_by("of", "places", maintain_order=True):
        shared_by = _values(members["shared_by"])
        yield _Score(str(of), "unique_share", int(str(places)), "none", (shared_by == 1).astype(np.float64))
        yield _Score(str(of), "distinct_share", int(str(places)), "none", 1 / shared_by)


def _values(column: pl.Series) -> npt.NDArray[np.float64]:
    return column.cast(pl.Float64).fill_null(np.nan).to_numpy()
