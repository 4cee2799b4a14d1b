"""Prices by auction: where an assignment is likely to end, before anything is solved (Bertsekas 1988).

A row bids for the column that leaves it most, just enough to make its second choice as good,
plus a step; it takes the column, and the last owner bids again. The larger the step, the
sooner this ends, and the rougher the prices are. They prove nothing: they say which pairs are
worth solving first.
"""

from __future__ import annotations

import numpy as np

from trajlab.matching.compiled import compiled
from trajlab.matching.plan import Floats, Ints

STEP = 0.004
"""How much more than necessary is bid, relative to the largest saving."""
PATIENCE = 500
"""The auction ends when one row in so many is left without a column: few rows bid very long."""


def prices(column: Ints, saving: Floats, size: int, most: float) -> Floats:
    """Prices of `size` columns; row i may bid for `column[i]`, which would save it `saving[i]`.

    Both are rows × choices. A choice that saves nothing is never taken.
    """
    price: Floats = bid(column, saving, size, STEP * most, len(column) // PATIENCE)
    return price


@compiled
def bid(column, saving, size, step, enough):  # type: ignore[no-untyped-def]
    """One row after another, those who lost their column at the end of the queue, until `enough` are left in it."""
    rows, choices = column.shape
    price, owner = np.zeros(size), np.full(size, -1)
    queue = np.arange(rows)
    at, waiting = 0, rows
    while waiting > enough:
        row = queue[at]
        at = at + 1 if at + 1 < rows else 0
        waiting -= 1
        best, second, choice = 0.0, 0.0, -1
        for k in range(choices):
            left = saving[row, k] - price[column[row, k]]
            if left > best:
                best, second, choice = left, best, column[row, k]
            elif left > second:
                second = left
        if choice < 0:
            continue
        price[choice] += best - second + step
        last = owner[choice]
        owner[choice] = row
        if last >= 0:
            queue[(at + waiting) % rows] = last
            waiting += 1
    return price
