"""What a published table says of the true counts: for every slot and cell from where to where, and how surely.

An exact count is known from itself to itself. A suppressed one lies between 0 and k - 1, a rounded one within
half a step. A noisy one may be anything, the less likely the further from the value published. One form
holds them all: the true count lies in `low … high`, and each person outside of that costs `price`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from trajlab.protect import COUNTS, load, load_recipe

if TYPE_CHECKING:
    from trajlab.release import Release

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Known:
    """Slots × cells: the true count lies in `low … high`.

    With noise it may lie outside: every person below or above makes the published value less likely by a factor
    of exp(-price), which for geometric and Laplace noise is the same for each. `price` is infinite
    without noise.
    """

    low: Ints
    high: Ints
    price: float = np.inf

    @property
    def exact(self) -> bool:
        return bool(np.isinf(self.price)) and bool((self.low == self.high).all())


def known(release: Release) -> Known:
    """Undo the protections of a release, the last one first, as far as they can be undone."""
    listed = np.zeros((release.slots, len(release.cells)), dtype=bool)
    column = np.searchsorted(release.cells["cell"].to_numpy(), release.counts["cell"].to_numpy())
    listed[release.counts["slot"].to_numpy(), column] = True
    counts = release.matrix()
    found = Known(counts, counts)
    for protection in reversed(load_recipe(release.recipe)):
        if protection.protects == COUNTS:
            found = protection.undo(found, listed, release.slots_per_day)
    if release.min_count > 1:
        found = load(f"suppress:{release.min_count}").undo(found, listed, release.slots_per_day)
    if release.total is not None and np.isinf(found.price):
        room = np.maximum(release.total[1] - found.low.sum(axis=1, keepdims=True), 0)
        found = replace(found, high=np.minimum(found.high, found.low + room))
    return found
