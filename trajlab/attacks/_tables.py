"""One table of whole people out of all that a published one allows: where attacks start, and what chance is given."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from trajlab.attacks._city import Floats, Ints, listed_share
from trajlab.release import Release


def whole_tables(release: Release, order: npt.NDArray[np.int32], *, at_rest: bool = False) -> Ints:
    """Slots × cells in that order, as many people in every slot; where counts leave it open, one column more: outside.

    `at_rest` keeps from slot to slot what the bounds allow, otherwise each slot is as likely as can be by itself.
    """
    known, people = release.known(), release.people
    low = known.low[:, order]
    high = np.maximum(np.minimum(known.high[:, order], people), low)
    if known.exact and bool((low.sum(axis=1) == people).all()):
        return low
    noisy, weight = not np.isinf(known.price), listed_share(release)[order]
    tables = np.empty((len(low), len(order)), dtype=np.int64)
    for slot in range(len(low)):
        if at_rest and slot and not noisy:
            tables[slot] = _kept(tables[slot - 1], low[slot], high[slot], people)
        else:
            tables[slot] = likely_counts(low[slot], high[slot], people=people, noisy=noisy, weight=weight)
    return np.column_stack([tables, people - tables.sum(axis=1)])


def likely_counts(low: Ints, high: Ints, *, people: int, noisy: bool, weight: Floats) -> Ints:
    """People per cell of one slot, within `low … high`; whoever is left over is outside.

    Cells that are listed more often hold more of those who are hidden: `weight` is the share of slots in which each
    is. Noisy counts are brought down by the same amount each, none below zero, until they hold as many as there are.
    """
    if noisy:
        return _whole(_lowered((low + high) / 2, people), people)
    free = people - int(low.sum())
    room = (high - low) * weight
    if room.sum() > free:
        room *= free / room.sum()
    counts: Ints = low + np.minimum(_whole(room, free), high - low)
    return counts


def _lowered(value: Floats, people: int) -> Floats:
    """The nearest table, in the sum of squares, that is nowhere negative and holds no more than `people`."""
    positive = np.maximum(value, 0.0)
    if positive.sum() <= people:
        return positive
    falling = np.sort(value)[::-1]
    excess = (np.cumsum(falling) - people) / np.arange(1, len(value) + 1)
    lowered: Floats = np.maximum(value - excess[np.flatnonzero(falling > excess)[-1]], 0.0)
    return lowered


def _whole(value: Floats, people: int) -> Ints:
    """Whole numbers near the values, `people` in all or fewer: the largest remainders are rounded up."""
    whole = np.floor(value + 1e-9).astype(np.int64)
    more = min(people, round(float(value.sum()))) - int(whole.sum())
    if more > 0:
        whole[np.argsort(whole - value, kind="stable")[:more]] += 1
    return whole


def _kept(before: Ints, low: Ints, high: Ints, people: int) -> Ints:
    """The counts of the slot before, changed no more than the bounds ask for; the fullest give first."""
    counts = np.clip(before, low, high)
    over = int(counts.sum()) - people
    if over > 0:
        by_slack = np.argsort(low - counts, kind="stable")
        slack = (counts - low)[by_slack]
        counts[by_slack] -= np.clip(over - (np.cumsum(slack) - slack), 0, slack)
    return counts
