"""The short cut of giving each other the nearest first, up to a distance: quick, not optimal."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from trajlab.matching.plan import Floats, Ints, Plan


def nearest_first(points: Floats, supply: Ints, sinks: Floats, demand: Ints, below: float) -> Plan:
    """Link what is closer than `below`, pairs in order of distance, as much as both sides have left.

    Pairs of equal distance go in the order of points, then sinks. Instead of one pair after
    another, all pairs that come first for both their sides are linked at once: no pair
    before them could take anything from them, so the outcome is the same.
    """
    near = cKDTree(points).sparse_distance_matrix(cKDTree(sinks), below, output_type="coo_matrix")
    order = np.lexsort((near.col, near.row, near.data))
    order = order[near.data[order] < below]
    row, column = near.row[order].astype(np.int64), near.col[order].astype(np.int64)
    left, open_demand = supply.copy(), demand.copy()
    linked: list[tuple[Ints, Ints, Ints]] = []
    while len(row):
        first = np.zeros(len(row), dtype=bool)
        first[np.unique(row, return_index=True)[1]] = True
        of_column = np.zeros(len(row), dtype=bool)
        of_column[np.unique(column, return_index=True)[1]] = True
        pick = np.flatnonzero(first & of_column)
        amount = np.minimum(left[row[pick]], open_demand[column[pick]])
        left[row[pick]] -= amount
        open_demand[column[pick]] -= amount
        linked.append((row[pick], column[pick], amount))
        going = (left[row] > 0) & (open_demand[column] > 0)
        row, column = row[going], column[going]
    if not linked:
        return Plan.nothing()
    source, sink, amounts = (np.concatenate(part) for part in zip(*linked, strict=True))
    return Plan(source, sink, amounts)
