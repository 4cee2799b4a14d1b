"""Scores with and without the target: how well they part, and how sure that is.

`auc` is taken target by target, each with a threshold of its own, and is the mean over targets. The other
measures put all targets into one pot, as an adversary must who has one threshold for everybody.
Intervals are 95 %, from resampling targets and groups at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

FALSE_ALARMS = 0.01
MEASURES = ("auc", "auc_pooled", "advantage", "tpr_at_1_percent")
REPLICATES = 200
RATES = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, *(round(0.1 * tenth, 1) for tenth in range(1, 11)))
"""False positive rates at which the curve is stored."""


@dataclass(frozen=True, slots=True)
class Parting:
    """Each measure with its interval, the AUC of every target, and the curve of all of them together."""

    measures: dict[str, tuple[float, float, float]]
    targets: Floats
    curve: Floats


def measure(scores: Floats, inside: Bools, seed: int) -> Parting:
    """How well scores tell groups with the target `inside` from the others; both are targets × groups.

    Every target has as many groups of either kind as every other.
    """
    duel, pot = _Duels(scores, inside), _Pot(scores, inside)
    everybody, every_group = np.ones(len(scores)), np.ones(scores.shape[1])
    rng = np.random.default_rng([seed, 4])
    drawn = np.empty((REPLICATES, len(MEASURES)))
    for replicate in range(REPLICATES):
        people, groups = _times(rng, len(scores)), _times(rng, scores.shape[1])
        drawn[replicate] = [duel.mean_area(people, groups), *pot.measures(people, groups)]
    low, high = np.nanquantile(drawn, [0.025, 0.975], axis=0)
    estimate = [duel.mean_area(everybody, every_group), *pot.measures(everybody, every_group)]
    found = {
        name: (float(value), float(min(below, value)), float(max(above, value)))
        for name, value, below, above in zip(MEASURES, estimate, low, high, strict=True)
    }
    return Parting(found, duel.areas(every_group), pot.curve(everybody, every_group))


def areas(scores: Floats, inside: Bools) -> Floats:
    """AUC of every target."""
    return _Duels(scores, inside).areas(np.ones(scores.shape[1]))


def _times(rng: np.random.Generator, number: int) -> Floats:
    return np.bincount(rng.integers(number, size=number), minlength=number).astype(float)


class _Duels:
    """Target by target, every group with the target against every group without."""

    def __init__(self, scores: Floats, inside: Bools) -> None:
        half = int(inside[0].sum())
        self._with = np.nonzero(inside)[1].reshape(-1, half)
        self._without = np.nonzero(~inside)[1].reshape(len(scores), -1)
        higher = np.take_along_axis(scores, self._with, axis=1)[:, :, None]
        lower = np.take_along_axis(scores, self._without, axis=1)[:, None, :]
        self._wins = ((higher > lower) + 0.5 * (higher == lower)).astype(np.float32)

    def areas(self, groups: Floats) -> Floats:
        """AUC of each target; NaN where no group of one kind counts."""
        mine, theirs = groups[self._with], groups[self._without]
        won = np.einsum("tij,ti,tj->t", self._wins, mine, theirs, optimize=True)
        with np.errstate(invalid="ignore"):
            found: Floats = won / (mine.sum(axis=1) * theirs.sum(axis=1))
        return found

    def mean_area(self, people: Floats, groups: Floats) -> float:
        areas = self.areas(groups)
        known = np.isfinite(areas)
        return float(areas[known] @ people[known] / people[known].sum())


class _Pot:
    """All scores together, the highest first; equal ones are passed at once."""

    def __init__(self, scores: Floats, inside: Bools) -> None:
        flat = scores.ravel()
        order = np.argsort(-flat, kind="stable")
        self._target, self._group = np.divmod(order, scores.shape[1])
        self._positive = inside.ravel()[order]
        self._ends = np.append(np.flatnonzero(np.diff(flat[order]) != 0), len(flat) - 1)

    def measures(self, people: Floats, groups: Floats) -> list[float]:
        """AUC, advantage and the true positive rate at few false alarms."""
        false, true = self._rates(people, groups)
        area = float(np.sum(np.diff(false) * (true[1:] + true[:-1]) / 2))
        return [area, float(np.max(true - false)), float(true[false <= FALSE_ALARMS].max())]

    def curve(self, people: Floats, groups: Floats) -> Floats:
        """True positive rates at `RATES`: the most that is reached with no more false alarms."""
        false, true = self._rates(people, groups)
        return true[np.searchsorted(false, np.array(RATES) + 1e-12, side="right") - 1]

    def _rates(self, people: Floats, groups: Floats) -> tuple[Floats, Floats]:
        weight = people[self._target] * groups[self._group]
        true = np.cumsum(np.where(self._positive, weight, 0.0))[self._ends]
        false = np.cumsum(np.where(self._positive, 0.0, weight))[self._ends]
        return np.append(0.0, false / false[-1]), np.append(0.0, true / true[-1])
