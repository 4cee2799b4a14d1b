"""Whether noise hides as much as it claims: a bound of ε from what the mechanism itself puts out.

Two tables are protected many times over: in one, every count is of some people, in the other of one person more. Were
ε true, nothing could be seen more than exp(ε) times as often in one as in the other. The event that tells them apart
best is sought in half of the draws and counted in the other half. Counts are noisy apart from each other, so
all that one unit moves are in that event together as often as one is, to the power of their number.

The bound lies below the true ε in 95 of 100 audits; one above the claim says that the claim is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from trajlab.errors import ProtectionError
from trajlab.protect import Table, load_recipe, name_of
from trajlab.settings import whole_number

if TYPE_CHECKING:
    from trajlab.protect.noise import Noise

FEWEST, MOST = 200_000, 10_000_000
"""Draws of each table: as many as it takes to see twice the claim, within these."""
_PEOPLE = 5
_MISSES = 0.05


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found: `lower` is at most the true ε of the unit in 95 of 100 audits."""

    mechanism: str
    unit: str
    claim: float
    lower: float
    draws: int

    @property
    def holds(self) -> bool:
        """Whether nothing that was seen contradicts the claim."""
        return self.lower <= self.claim

    def __str__(self) -> str:
        verdict = "nothing seen contradicts it" if self.holds else "the claim does not hold"
        return (
            f"{self.mechanism} claims ε = {self.claim:g} per {self.unit}; from {self.draws:,} draws ε is at least "
            f"{self.lower:.3g} (95 %): {verdict}"
        )


def audit(noise: Noise, slots: int, slots_per_day: int, *, seed: int = 0) -> Audit:
    """The bound for a table of so many slots; the same seed, the same bound."""
    bound = noise.bound(slots, slots_per_day)
    wanted = min(max(40 * (bound / min(float(noise.eps), 1.0)) ** 2, FEWEST), MOST)
    rng = np.random.default_rng([seed, 0xA0D17])
    cells = math.ceil(wanted / slots)
    fewer, more = (_draw(noise, people, slots, slots_per_day, cells, rng) for people in (_PEOPLE, _PEOPLE + 1))
    sought, counted = slice(0, len(fewer) // 2), slice(len(fewer) // 2, None)
    bounds = [  # the most is seen of one person more far above, and of one person less far below
        _bound(more, fewer, _best(more[sought], fewer[sought]), counted),
        _bound(-fewer, -more, _best(-fewer[sought], -more[sought]), counted),
    ]
    return Audit(name_of(noise), noise.unit, float(noise.eps), bound * max(0.0, *bounds), len(fewer) + len(more))


def audit_recipe(recipe: Sequence[str], slots: int, slots_per_day: int, *, seed: int = 0) -> Audit:
    """The audit of the noise in a recipe; one without noise claims nothing that could be audited."""
    found = [protection for protection in load_recipe(recipe) if hasattr(protection, "claim")]
    if not found:
        given = " ".join(recipe) or "nothing"
        raise ProtectionError(f"the release is protected with {given}: only noise claims an ε that can be audited")
    return audit(found[0], slots, slots_per_day, seed=whole_number("seed", seed, 0, None, error=ProtectionError))


def _draw(
    noise: Noise, people: int, slots: int, slots_per_day: int, cells: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """What becomes of counts that are all alike, sorted by nothing."""
    numbers = np.arange(cells, dtype=np.uint64)
    table = Table(slots, slots_per_day, pl.DataFrame({"cell": numbers, "parent_cell": numbers}))
    counts = pl.DataFrame(
        {
            "slot": np.repeat(np.arange(slots, dtype=np.int32), cells),
            "cell": np.tile(numbers, slots),
            "people": np.full(slots * cells, people, dtype=np.int64),
        }
    ).with_columns(contributors=pl.col("people"))
    return noise.apply(counts, table, rng)["people"].to_numpy()


def _best(often: npt.NDArray[np.int64], seldom: npt.NDArray[np.int64]) -> int:
    """The number at or above which one is seen most surely more often than the other."""
    candidates = np.unique(np.quantile(often, np.linspace(0.0, 0.999, 300)).astype(np.int64))
    return int(max(candidates, key=lambda least: _bound(often, seldom, int(least), slice(None))))


def _bound(often: npt.NDArray[np.int64], seldom: npt.NDArray[np.int64], least: int, part: slice) -> float:
    """How many times as often one is at or above a number as the other, at least: its logarithm (Clopper and Pearson).

    Two shares are bounded, above and below: each misses its bound once in 80 times, so that any of the four does
    once in 20.
    """
    from scipy.stats import beta

    one, other = often[part] >= least, seldom[part] >= least
    hits, hits_of_other, draws = int(one.sum()), int(other.sum()), len(one)
    if not hits:
        return 0.0
    low = beta.ppf(_MISSES / 4, hits, draws - hits + 1)
    high = 1.0 if hits_of_other == draws else beta.ppf(1 - _MISSES / 4, hits_of_other + 1, draws - hits_of_other)
    return float(np.log(low / high))
