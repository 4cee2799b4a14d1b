"""Values within a tolerance: which lists hold a combination of items with values near enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from trajlab.risk.crowds.lists import Bools, Floats, Ints

PAIRS = 8_000_000
"""Pairs of known and found values compared at once."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A value x is fitted by a list's value v when v - v * tolerance <= x <= v + v * tolerance.

    `relative` compares values divided by the largest in the combination.
    """

    tolerance: float
    relative: bool = False

    @property
    def exact(self) -> bool:
        """Whether a value fits no other, whatever the other items are."""
        return self.tolerance == 0 and not self.relative

    def values(self, values: Floats) -> Floats:
        return values / values.max(axis=1, keepdims=True) if self.relative else values

    def holds(self, known: Floats, row: Ints, found: Floats, other: Ints) -> Bools:
        """For pairs of rows of the two tables: whether every column fits."""
        held = np.ones(len(row), bool)
        for x, v in zip(known.T, found.T, strict=True):
            there = v[other]
            slack = there * self.tolerance
            held &= (x[row] >= there - slack) & (x[row] <= there + slack)
        return held


def fitting(
    fit: Fit,
    path: Ints,
    number: Ints,
    their_path: Ints,
    of: Ints,
    value: Floats | None,
    their_value: Floats | None,
    their_list: Ints,
    own: Ints | None,
) -> tuple[Ints, Bools]:
    """For every known combination: lists with the same items whose values fit, and whether the own one's do.

    Equal values of equal items are compared once, whoever has them.
    """
    if not len(path) or value is None or their_value is None:
        return np.zeros(len(path), np.int64), np.zeros(len(path), bool)
    depth = path.shape[1]
    known, found = fit.values(value[path]), fit.values(their_value[their_path])
    columns = [f"v{i}" for i in range(depth)]
    mine = pl.DataFrame(known, schema=columns).with_columns(number=number).with_row_index("row")
    theirs = pl.DataFrame(found, schema=columns).with_columns(number=of)
    distinct = mine.select("number", *columns).unique().sort("number", *columns).with_row_index("id")
    there = theirs.group_by("number", *columns).len().sort("number", *columns)
    counts = _count(fit, distinct, there, columns)
    k = counts[mine.join(distinct, on=["number", *columns]).sort("row")["id"].to_numpy()]
    if own is None:
        return k, np.ones(len(k), bool)
    rows = pl.DataFrame({"number": of, "list": their_list}).with_row_index("theirs")
    pairs = pl.DataFrame({"number": number, "list": own}).with_row_index("mine").join(rows, on=["number", "list"])
    ok = np.zeros(len(k), bool)
    row, other = pairs["mine"].to_numpy(), pairs["theirs"].to_numpy()
    ok[row] = fit.holds(known, row, found, other)
    return k, ok


def _count(fit: Fit, distinct: pl.DataFrame, there: pl.DataFrame, columns: list[str]) -> Ints:
    x, v = distinct.select(columns).to_numpy(order="fortran"), there.select(columns).to_numpy(order="fortran")
    lists, numbers = there["len"].cast(pl.Int64).to_numpy(), there["number"].to_numpy()
    begin, stop = (np.searchsorted(numbers, distinct["number"].to_numpy(), side=side) for side in ("left", "right"))
    each = stop - begin
    full = np.cumsum(each)
    counts = np.zeros(len(distinct), np.int64)
    at = 0
    while at < len(distinct):
        used = full[at - 1] if at else 0
        until = max(at + 1, int(np.searchsorted(full, used + PAIRS, side="right")))
        many = each[at:until]
        row = np.repeat(np.arange(at, until), many)
        other = np.repeat(begin[at:until] - np.cumsum(many) + many, many) + np.arange(len(row))
        held = fit.holds(x, row, v, other)
        np.add.at(counts, row[held], lists[other[held]])
        at = until
    return counts
