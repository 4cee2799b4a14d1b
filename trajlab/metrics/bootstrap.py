"""How far a mean over people would move if the people had been others of the same kind."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

DRAWS = 4_000_000
"""People drawn at a time, so that memory does not grow with the number of people."""


def intervals(values: Values, *, seed: int, replicates: int = 1000) -> tuple[Values, Values, Values]:
    """The mean of each column of (people, metrics), and where 95 % of the resampled means lie.

    Percentile bootstrap: people are drawn with replacement, as many as there are, the same people for
    every metric. NaN is a person without a value: left out of that mean. A column of nothing else gives NaN.
    The bytes depend on the values, their order and the seed alone.
    """
    people, metrics = values.shape
    known = np.isfinite(values)
    terms = np.hstack([_summable(np.where(known, values, 0.0)), known.astype(np.float64)])
    rng = np.random.default_rng(seed)
    sums = np.empty((replicates, 2 * metrics))
    at_once = max(1, DRAWS // max(people, 1))
    for first in range(0, replicates, at_once):
        some = min(at_once, replicates - first)
        drawn = rng.integers(people, size=(some, people)) + np.arange(some)[:, None] * people
        times = np.bincount(drawn.ravel(), minlength=some * people).reshape(some, people)
        sums[first : first + some] = times.astype(np.float64) @ terms
    total = terms.sum(axis=0)
    with np.errstate(invalid="ignore"):
        means = sums[:, :metrics] / sums[:, metrics:]
        estimate = total[:metrics] / total[metrics:]
    low, high = np.full((2, metrics), np.nan)
    some_known = known.any(axis=0)
    low[some_known], high[some_known] = np.nanquantile(means[:, some_known], [0.025, 0.975], axis=0)
    return estimate, low, high


def _summable(values: Values) -> Values:
    """The values to about eleven digits, on a grid on which every sum of them is exact.

    Otherwise the last digits would depend on how many threads add them up.
    """
    largest = np.abs(values).max(axis=0, initial=0.0) * len(values)
    grid = np.exp2(np.ceil(np.log2(np.maximum(largest, 1e-300))) - 52)
    on_grid: Values = np.rint(values / grid) * grid
    return on_grid
