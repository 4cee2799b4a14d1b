"""The fewest points that single one person out: what that person would have to keep to themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from trajlab.errors import RiskError
from trajlab.risk.crowds import smallest

if TYPE_CHECKING:
    from trajlab.risk.crowds.smallest import Ints
    from trajlab.store import Store

LIMIT = 500_000
"""Beginnings of sets looked at before giving up: seconds among thousands of people, minutes among tens of thousands."""


def smallest_set(store: Store, traces_id: str, trace: int, *, most: int = 5, limit: int = LIMIT) -> pl.DataFrame:
    """The smallest set of a trace's own points that no other trace of the set passes through.

    One row per point, in the order of slot, then cell: `rank, slot, cell, others`, where `others` is how many
    others still fit after this point and those before. Among equally small sets it is the one whose
    points are earliest, the first one first. Raises `RiskError` where no set of up to `most` points does it, or
    where that cannot be known from `limit` beginnings of sets.
    """
    for name, value in (("most", most), ("limit", limit)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise RiskError(f"{name} must be a whole number, 1 or more, not {value!r}")
    mine = store.frame(
        "select slot, cell from slots.visit where traces_id = $id and trace = $trace order by slot, cell",
        id=traces_id,
        trace=trace,
    )
    if mine.is_empty():
        raise RiskError(f"trace {trace} has no points in the traces {traces_id!r}")
    point, other = _sharing(store, traces_id, trace, mine)
    try:
        chosen = smallest.smallest_set(point, other, len(mine), most, limit)
    except smallest.TooManyError as error:
        raise RiskError(f"{error}: allow more with a higher limit, or ask of smaller cells") from None
    if chosen is None:
        raise RiskError(_why_not(trace, other, len(mine), most))
    others, left = np.unique(other), []
    for number in chosen:
        others = np.intersect1d(others, other[point == number])
        left.append(len(others))
    return mine[chosen].select(
        pl.int_range(1, pl.len() + 1, dtype=pl.Int32).alias("rank"), "slot", "cell", pl.Series("others", left, pl.Int64)
    )


def _sharing(store: Store, traces_id: str, trace: int, mine: pl.DataFrame) -> tuple[Ints, Ints]:
    """Which of the points (numbered in their order) which others pass through, others numbered from 0."""
    with store.engine.frames(points_of_one=mine.with_row_index("point")):
        shared = store.frame(
            "select point, trace from slots.visit join points_of_one using (slot, cell) "
            "where traces_id = $id and trace <> $trace",
            id=traces_id,
            trace=trace,
        )
    return shared["point"].cast(pl.Int64).to_numpy(), _numbered(shared["trace"].to_numpy())


def _numbered(names: Ints) -> Ints:
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def _why_not(trace: int, other: Ints, points: int, most: int) -> str:
    twins = int((np.bincount(other) == points).sum())
    if twins:
        return f"no set of points singles trace {trace} out: {twins:,} others pass through all of its {points:,} points"
    return (
        f"no set of up to {most:,} points singles trace {trace} out, though all of its {points:,} points do: "
        f"look for larger sets with most={most + 1}"
    )
