"""How many people a table is about: as published, else as far as its counts say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from trajlab.release import Release


def people(release: Release) -> int:
    """As many as its fullest slot is sure to hold, within what is published of the total; nobody is invented.

    Noise is averaged over slots: sums of noisy counts are right in the mean, and may be wrong in every slot.
    """
    fullest = int(least(release).max(initial=0))
    if release.total is None:
        return fullest
    low, high = release.total
    return min(max(fullest, low), max(low, high))


def least(release: Release) -> npt.NDArray[np.int64]:
    """The fewest people whom each slot can hold, by its counts; with noise, as many as there are on average."""
    sums = np.zeros(release.slots, dtype=np.int64)
    np.add.at(sums, release.counts["slot"].to_numpy(), release.counts["people"].to_numpy())
    if not release.recipe:
        return sums
    known = release.known()
    if np.isinf(known.price):
        sure: npt.NDArray[np.int64] = np.maximum(known.low, 0).sum(axis=1)
        return sure
    return np.full(release.slots, max(round(float(sums.mean())), 1))
