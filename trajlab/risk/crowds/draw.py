"""Which items of a row are drawn: by lot, without replacement, for many rows at once.

What is drawn of a row depends on its lot, the number of the draw and how many items
it has, and on no other row. Draws are nested: the first of many are the same as when only
few are drawn, so that whoever knows more knows all that the other knows, and something else.
Items of a row are numbered from 0 in their order.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Lots = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def scattered(lots: Lots, sizes: Numbers, draws: int) -> Numbers:
    """Rows × draws: numbers of items drawn uniformly without replacement; -1 where a row has no more.

    Draw j picks one of the items that are left, then counts past those picked before.
    """
    picked = np.full((len(lots), draws), -1, dtype=np.int64)
    for draw in range(draws):
        left = sizes - draw
        pick = _below(lots, draw, left)
        for earlier in np.sort(picked[:, :draw], axis=1).T:
            pick += (pick >= earlier) & (left > 0)
        picked[:, draw] = np.where(left > 0, pick, -1)
    return picked


def stretch(lots: Lots, sizes: Numbers, draws: int) -> Numbers:
    """Rows × draws: numbers of consecutive items; -1 where a row has no more.

    The first is drawn uniformly among all items. The stretch grows forward from it and, once it has
    reached the end of the row, backward, so that a longer stretch holds every shorter one. For
    any length the last stretch of a row is therefore drawn more often than the others.
    """
    start = _below(lots, 0, sizes)[:, None]
    number = np.arange(draws)[None, :]
    ahead = start + number
    back = sizes[:, None] - 1 - number
    return np.where(number < sizes[:, None], np.where(ahead < sizes[:, None], ahead, back), -1)


def _below(lots: Lots, draw: int, limit: Numbers) -> Numbers:
    """A number from 0 to limit - 1 by splitmix64 of lot and draw; 0 where there is no such number.

    The remainder favours small numbers by less than limit / 2^64, which no sample can show.
    """
    with np.errstate(over="ignore"):
        mixed = lots + GOLDEN * np.uint64(draw + 1)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * MIX[0]
        mixed = (mixed ^ (mixed >> np.uint64(27))) * MIX[1]
    mixed ^= mixed >> np.uint64(31)
    number: Numbers = (mixed % np.maximum(limit, 1).astype(np.uint64)).astype(np.int64)
    return number
