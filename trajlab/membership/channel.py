"""What becomes of a true count on its way into the table: exact, suppressed, rounded, noisy, or these in turn.

A published value is one of finitely many *symbols*: hidden, below zero, 0 … top, above. Each protection is a
matrix from symbols to symbols, and a recipe is their product, so that one formula holds for every recipe:
the law of what is published is the law of the true count times that matrix. Nothing is sampled to get it.
Values below zero, and those above `top`, are one symbol each: under geometric and Laplace noise every one
of them says the same about a count from 0 to `top`.

Suppression below 3 of a true count of 2, then of 4:

>>> channel = Channel((Suppress(3),))
>>> symbols(*channel.publish(np.array([2, 4]), np.random.default_rng(0)), top=5).tolist()
[0, 6]
>>> channel.matrix(5)[2].argmax(), channel.matrix(5)[4].argmax()
(np.int64(0), np.int64(6))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

HIDDEN, BELOW, ZERO = 0, 1, 2
"""Symbols: what is not published, any value below zero, and 0, which the others follow."""


class Step(Protocol):
    """One protection of a count."""

    def apply(self, values: Ints, hidden: Bools, rng: np.random.Generator) -> tuple[Ints, Bools]:
        """Values as they are published, and which of them are not."""
        ...

    def spread(self, law: Floats, least: int) -> Floats:
        """Laws (rows) after this step, from those before it, over hidden, below, `least`, `least` + 1 …, above."""
        ...


@dataclass(frozen=True, slots=True)
class Suppress:
    """Counts below `least` are not published."""

    least: int

    def apply(self, values: Ints, hidden: Bools, rng: np.random.Generator) -> tuple[Ints, Bools]:
        return values, hidden | (values < self.least)

    def spread(self, law: Floats, least: int) -> Floats:
        upto = min(ZERO + self.least - least, law.shape[1] - 1)
        after = law.copy()
        after[:, HIDDEN] += law[:, BELOW:upto].sum(axis=1)
        after[:, BELOW:upto] = 0.0
        return after


@dataclass(frozen=True, slots=True)
class Round:
    """Counts become the nearest multiple of `base`; halfway goes up."""

    base: int

    def apply(self, values: Ints, hidden: Bools, rng: np.random.Generator) -> tuple[Ints, Bools]:
        return self._nearest(values), hidden

    def spread(self, law: Floats, least: int) -> Floats:
        values = np.arange(law.shape[1] - ZERO - 1) + least
        nearest = np.clip(self._nearest(values), least - 1, values[-1] + 1) - least
        after = np.zeros_like(law)
        np.add.at(after.T, ZERO + nearest, law[:, ZERO:-1].T)
        after[:, [HIDDEN, BELOW, -1]] += law[:, [HIDDEN, BELOW, -1]]
        return after

    def _nearest(self, values: Ints) -> Ints:
        nearest: Ints = (2 * values + self.base) // (2 * self.base) * self.base
        return nearest


@dataclass(frozen=True, slots=True)
class Noise:
    """Two-sided geometric noise, or Laplace noise to the nearest whole number; `scale` is 1 / ε of one count."""

    kind: str
    scale: float

    def apply(self, values: Ints, hidden: Bools, rng: np.random.Generator) -> tuple[Ints, Bools]:
        if self.kind == "laplace":
            return np.rint(values + rng.laplace(0.0, self.scale, values.shape)).astype(np.int64), hidden
        ends = -np.expm1(-1 / self.scale)
        return values + rng.geometric(ends, values.shape) - rng.geometric(ends, values.shape), hidden

    def upper(self, steps: Ints) -> Floats:
        """Chance of noise of at least so much, for whole numbers above 0."""
        if self.kind == "laplace":
            found: Floats = np.exp(-(steps - 0.5) / self.scale) / 2
        else:
            found = np.exp(-steps / self.scale) / (1 + np.exp(-1 / self.scale))
        return found

    def chance(self, steps: Ints) -> Floats:
        """Chance of noise of exactly so much."""
        size = np.abs(steps)
        at_zero = 1 - 2 * self.upper(np.array(1))
        return np.where(size == 0, at_zero, self.upper(np.maximum(size, 1)) - self.upper(np.maximum(size, 1) + 1))

    def spread(self, law: Floats, least: int) -> Floats:
        place = np.arange(law.shape[1] - ZERO - 1)
        after = np.zeros_like(law)
        after[:, ZERO:-1] = law[:, ZERO:-1] @ self.chance(place[None, :] - place[:, None])
        after[:, BELOW] = law[:, ZERO:-1] @ self.upper(place + 1)
        after[:, -1] = law[:, ZERO:-1] @ self.upper(place[::-1] + 1)
        after[:, [HIDDEN, BELOW, -1]] += law[:, [HIDDEN, BELOW, -1]]
        return after


@dataclass(frozen=True, slots=True)
class Channel:
    """Protections in their order; none of them publishes counts as they are."""

    steps: tuple[Step, ...] = ()

    def publish(self, counts: Ints, rng: np.random.Generator) -> tuple[Ints, Bools]:
        """True counts as they are published, each on its own, and which of them are not."""
        values, hidden = counts, np.zeros(counts.shape, dtype=bool)
        for step in self.steps:
            values, hidden = step.apply(values, hidden, rng)
        return values, hidden

    @property
    def noise_variance(self) -> float:
        """Variance of the noise on one count."""
        return sum(2 * step.scale**2 for step in self.steps if isinstance(step, Noise))

    def matrix(self, top: int) -> Floats:
        """Chances of every symbol (columns) for true counts of 0 … top and, in the last row, of more than that."""
        beyond = sum(step.base for step in self.steps if isinstance(step, Round))  # what rounding may bring back
        law = np.zeros((top + 2, top + 2 * beyond + 4))
        law[np.arange(top + 1), ZERO + beyond + np.arange(top + 1)] = 1.0
        law[-1, -1] = 1.0
        for step in self.steps:
            law = step.spread(law, -beyond)
        inside = slice(ZERO + beyond, ZERO + beyond + top + 1)
        below, above = law[:, BELOW : inside.start].sum(axis=1), law[:, inside.stop :].sum(axis=1)
        return np.column_stack([law[:, HIDDEN], below, law[:, inside], above])


def symbols(values: Ints, hidden: Bools, top: int) -> Ints:
    """What is published as columns of a channel's matrix."""
    found: Ints = np.where(hidden, HIDDEN, np.clip(values, -1, top + 1) + ZERO)
    return found
