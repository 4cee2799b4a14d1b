"""Prices by auction: where an assignment is likely to end, before anything is solved (Bertsekas 1988).

Rows bid for the column that leaves them most, just enough to make their second choice as
good, plus a step; the highest bid takes the column and puts its last owner back among the
bidders. The larger the step, the sooner this ends, and the rougher the prices are. They prove
nothing: they say which pairs are worth solving first.
"""

from __future__ import annotations

import numpy as np

from trajlab.matching.plan import Floats, Ints

STEP = 0.004
"""How much more than necessary is bid, relative to the largest saving."""
PATIENCE = 500
"""The auction ends when one row in so many is left without a column: few rows bid very long."""


def prices(column: Ints, saving: Floats, size: int, most: float) -> Floats:
    """Prices of `size` columns; row i may bid for `column[i]`, which would save it `saving[i]`.

    Both are rows × choices. A choice that saves nothing is never taken.
    """
    price = np.zeros(size)
    owner = np.full(size, -1)
    winner = np.empty(size, dtype=np.int64)
    bidder = np.arange(len(column))
    while len(bidder) > len(column) // PATIENCE:
        left = saving[bidder] - price[column[bidder]]
        line = np.arange(len(bidder))
        choice = left.argmax(axis=1)
        best = left[line, choice]
        left[line, choice] = 0.0
        second = np.maximum(left.max(axis=1), 0.0)
        willing = best > 0.0
        wanted = column[bidder, choice][willing]
        bid = price[wanted] + (best - second)[willing] + STEP * most
        bidder = bidder[willing]
        order = np.argsort(bid, kind="stable")
        winner[wanted[order]] = order  # of several bids for a column the last, which is the highest, stays
        won = winner[wanted] == np.arange(len(bidder))
        before = owner[wanted[won]]
        owner[wanted[won]], price[wanted[won]] = bidder[won], bid[won]
        bidder = np.concatenate([bidder[~won], before[before >= 0]])
    return price
