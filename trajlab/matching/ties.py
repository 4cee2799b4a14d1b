"""A seeded preference between answers of equal cost.

Where many sources are at one point, many plans cost the same, and a solver returns
whichever its path happens to reach. So every pair (row, column) gets a tiny extra cost, a
pseudo-random number computed from the seed and from the keys of its row and column. With it
the best answer is the only one, but for chances of about one in ten thousand ties, and
depends neither on the order of rows, nor on threads, nor on which exact solver runs.
The extra is left out of every cost that is reported; a bound is one on costs without it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]

PREFERENCE = 2.0**-23
"""Largest extra cost, relative to the largest cost: a few millimetres in a city."""


@dataclass(frozen=True, slots=True)
class Grain:
    """How finely costs are told apart.

    They are whole multiples of `unit`, a power of two so large that the simplex, whose prices
    reach twice the largest cost plus one times the number of nodes, adds without rounding.
    """

    unit: float
    extra: float

    @classmethod
    def of(cls, largest: float, nodes: int) -> Grain:
        nearly = 2.0 ** math.ceil(math.log2(largest + 1.0))
        unit = nearly * 2.0 ** (math.ceil(math.log2(nodes)) + 1 - 52)
        return cls(unit, extra=min(2.0**16 * unit, PREFERENCE * nearly))

    @property
    def tolerance(self) -> float:
        """What the simplex, whose own test is relative to its prices, may leave undone."""
        return 64 * self.unit

    @property
    def error(self) -> float:
        """What one pair's cost can differ by from what it stands for."""
        return self.extra + self.unit + self.tolerance

    def costs(self, plain: Floats, preference: Floats) -> Floats:
        preference *= self.extra
        preference += plain
        preference /= self.unit
        np.rint(preference, out=preference)
        preference *= self.unit
        return preference


def keys(seed: int, *parts: npt.ArrayLike) -> Keys:
    """One number per row that looks random and depends on the seed and on the row's parts alone."""
    mixed: Keys = np.array(seed % 2**64, dtype=np.uint64)
    for part in parts:
        mixed = _mix(np.asarray(part, dtype=np.int64).view(np.uint64) ^ mixed)
    return mixed


def preference(rows: Keys, columns: Keys) -> Floats:
    """Numbers in [0, 1), one per pair of keys; arguments broadcast."""
    product = (rows | np.uint64(1)) * columns
    product >>= np.uint64(11)
    return product.astype(np.float64) * 2.0**-53


def _mix(x: Keys) -> Keys:
    """The finaliser of splitmix64: each bit of the result depends on every bit of x."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
