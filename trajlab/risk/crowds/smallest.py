"""The fewest points that single one person out: what that person would have to keep to themselves.

An exact search by growing size. Of every point there is a row of bits, one for each other
trace that passes through it; a set of points singles the person out when the rows have no
bit in common. Sets are tried in the order of their points, so the first one found is the earliest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from trajlab.errors import RiskError

if TYPE_CHECKING:
    from trajlab.store import Store

Ints = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint64]

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
    point, who = _sharing(store, traces_id, trace)
    chosen = _smallest(point, who, len(mine), most, limit)
    if chosen is None:
        raise RiskError(_why_not(trace, who, len(mine), most))
    others, left = np.unique(who), []
    for number in chosen:
        others = np.intersect1d(others, who[point == number])
        left.append(len(others))
    return mine[chosen].select(
        pl.int_range(1, pl.len() + 1, dtype=pl.Int32).alias("rank"), "slot", "cell", pl.Series("others", left, pl.Int64)
    )


def _sharing(store: Store, traces_id: str, trace: int) -> tuple[Ints, Ints]:
    """Which of the points (numbered in their order) which others pass through, others numbered from 0."""
    shared = store.con.sql(
        """
        with mine as (
            select slot, cell, row_number() over (order by slot, cell) - 1 as point
            from slots.visit
            where traces_id = $id and trace = $trace
        )
        select mine.point, visit.trace
        from slots.visit as visit
        join mine on mine.slot = visit.slot and mine.cell = visit.cell
        where visit.traces_id = $id and visit.trace <> $trace
        """,
        params={"id": traces_id, "trace": trace},
    ).fetchnumpy()
    return shared["point"].astype(np.int64), np.unique(shared["trace"], return_inverse=True)[1].astype(np.int64)


def _smallest(point: Ints, who: Ints, points: int, most: int, limit: int) -> list[int] | None:
    shared = np.bincount(who)
    twins = np.unique(_bits(point, who, points), axis=0, return_index=True)[1]
    earliest = np.sort(twins)  # a later point with the same others adds nothing to the first of them
    for size in range(1, min(most, len(earliest)) + 1):
        close = shared[who] >= size  # whoever shares fewer points cannot pass through all of so many
        found = _first(_bits(point[close], who[close], points)[earliest], size, _Work(size, limit))
        if found is not None:
            return [int(earliest[number]) for number in found]
    return None


def _bits(point: Ints, who: Ints, points: int) -> Bits:
    """Points × others, 64 others to a word."""
    column = np.unique(who, return_inverse=True)[1].astype(np.int64)
    bits = np.zeros((points, int(column.max(initial=0)) // 64 + 1), dtype=np.uint64)
    np.bitwise_or.at(bits, (point, column >> 6), np.uint64(1) << (column & 63).astype(np.uint64))
    return bits


@dataclass(slots=True)
class _Work:
    """How many beginnings of sets of a size may still be looked at."""

    size: int
    left: int

    def spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise RiskError(
                f"no set of up to {self.size - 1} points is enough, and there are too many of {self.size} to look at: "
                "allow more with a higher limit, or ask of smaller cells"
            )


def _first(bits: Bits, size: int, work: _Work) -> list[int] | None:
    """The first `size` rows, in the order of rows, that have no bit in common."""
    if size == 1:
        clear = np.flatnonzero(~bits.any(axis=1))
        return [int(clear[0])] if len(clear) else None
    in_all_from = np.bitwise_and.accumulate(bits[::-1])[::-1]
    for row in range(len(bits) - size + 1):
        if in_all_from[row].any():
            return None  # somebody passes through this point and all later ones
        work.spend()
        words = np.flatnonzero(bits[row])
        alive = bits[row, words]
        later = bits[row + 1 :, words] & alive
        remaining = int(np.bitwise_count(alive).sum())
        fewest = np.sort(np.bitwise_count(later).sum(axis=1, dtype=np.int64))[: size - 1]
        if (remaining - fewest).sum() < remaining:
            continue  # even the points that shed most, were they to shed different people, leave somebody
        found = _first(later, size - 1, work)
        if found is not None:
            return [row, *(row + 1 + number for number in found)]
    return None


def _why_not(trace: int, who: Ints, points: int, most: int) -> str:
    twins = int((np.bincount(who) == points).sum())
    if twins:
        return f"no set of points singles trace {trace} out: {twins:,} others pass through all of its {points:,} points"
    return (
        f"no set of up to {most:,} points singles trace {trace} out, though all of its {points:,} points do: "
        f"look for larger sets with most={most + 1}"
    )
