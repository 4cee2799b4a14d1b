"""Where most positions of a sub-dataset lie: the corners of its study box."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import polars as pl

Corner = tuple[float, float]
"""Longitude and latitude."""

A_DEGREE = 111_320
"""Metres of a degree in the notebook that made table I: what the size of the box is told in, for comparison."""


def corners(longest: pl.DataFrame, percentiles: tuple[float, float]) -> tuple[Corner, Corner]:
    """South-west and north-east (lng, lat) of the study box: percentiles over people and slots, before the cut.

    A position counts in every slot that is nearest to it in time: halfway to the positions
    before and after it, the middle slot to the earlier one.
    """
    gap = pl.col("slot").diff().over("uid").fill_null(1)
    later = pl.max_horizontal(gap - 1 - gap // 2, 0)
    earlier = gap.shift(-1, fill_value=1).over("uid") // 2
    weight = longest.select(1 + later + earlier).to_series().to_numpy()
    lng, lat = (_percentiles(longest[name].to_numpy(), weight, percentiles) for name in ("lng", "lat"))
    return (lng[0], lat[0]), (lng[1], lat[1])


def box_size(low: Corner, high: Corner, percentiles: tuple[float, float], latitude: float) -> str:
    """How large the study box is in the notebook's metres: degrees as on a sphere, at the points' mean latitude."""
    wide = (high[0] - low[0]) * A_DEGREE * math.cos(math.radians(latitude))
    tall = (high[1] - low[1]) * A_DEGREE
    first, last = (f"{100 * share:g}" for share in percentiles)
    return f"their positions from {first} to {last} % span {wide:,.0f} by {tall:,.0f} m"


def _percentiles(
    values: npt.NDArray[np.float64],
    weight: npt.NDArray[np.int64],
    shares: tuple[float, float],
) -> tuple[float, float]:
    """Percentiles of values repeated by weight, between two of them in proportion."""
    order = np.argsort(values)
    upto = np.cumsum(weight[order])
    place = np.array(shares) * (upto[-1] - 1)
    below, above = (values[order[np.searchsorted(upto, f(place), side="right")]] for f in (np.floor, np.ceil))
    low, high = below + (above - below) * (place - np.floor(place))
    return float(low), float(high)
