"""Chance that belongs to a person, not to the order in which people are drawn.

A stateful generator gives person 7 other numbers when there are more people, or
larger blocks of them. Here every draw is a hash of (seed, purpose, person, counter),
so a person's trace depends on nothing but the seed and the person's own number, and
blocks can be built in any order, by any number of threads.

The hash is the finaliser of splitmix64, applied once per key: 64 well-mixed bits in
a handful of array operations, fast enough to give every record its own noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Bits: TypeAlias = npt.NDArray[np.uint64]

_WEYL = np.uint64(0x9E3779B97F4A7C15)
_STIR_1 = np.uint64(0xBF58476D1CE4E5B9)
_STIR_2 = np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True, slots=True)
class Chance:
    seed: int

    def generator(self, purpose: str) -> np.random.Generator:
        """For what there is one of: the streets, the masts, the campus."""
        return np.random.default_rng(self._key(purpose))

    def bits(self, purpose: str, *keys: npt.NDArray[Any]) -> Bits:
        """64 bits for every combination of the keys, which broadcast as arrays do."""
        state = np.full((1,) * max(key.ndim for key in keys), self._key(purpose), dtype=np.uint64)
        for key in keys:
            state = _stir(state + key.astype(np.uint64) * _WEYL)
        return state

    def uniform(self, purpose: str, *keys: npt.NDArray[Any]) -> Floats:
        """From 0 up to, never at, 1."""
        return (self.bits(purpose, *keys) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def normal(self, purpose: str, *keys: npt.NDArray[Any]) -> Floats:
        return self.normal_pair(purpose, *keys)[0]

    def normal_pair(self, purpose: str, *keys: npt.NDArray[Any]) -> tuple[Floats, Floats]:
        """Two independent normal draws per key (Box and Muller), each from 32 of the 64 bits."""
        bits = self.bits(purpose, *keys)
        angle = (bits & np.uint64(0xFFFFFFFF)) * (2.0 * np.pi * 2.0**-32)
        length = np.sqrt(-2.0 * np.log(((bits >> np.uint64(32)) + np.uint64(1)) * 2.0**-32))
        return length * np.cos(angle), length * np.sin(angle)

    def geometric(self, purpose: str, mean: Floats, *keys: npt.NDArray[Any]) -> Ints:
        """Counts 0, 1, 2, ... with the given mean and a long tail."""
        tail = np.log1p(-self.uniform(purpose, *keys))
        return np.floor(tail / np.log(mean / (1.0 + mean))).astype(np.int64)

    def _key(self, purpose: str) -> int:
        return int.from_bytes(blake2b(f"{self.seed}/{purpose}".encode(), digest_size=8).digest(), "little")


def _stir(state: Bits) -> Bits:
    state += _WEYL
    state ^= state >> np.uint64(30)
    state *= _STIR_1
    state ^= state >> np.uint64(27)
    state *= _STIR_2
    state ^= state >> np.uint64(31)
    return state
