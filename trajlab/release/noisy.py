"""What noise needs of a lab: counts of which one person is only so much, and what its publisher should know."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from trajlab.protect import Table, name_of
from trajlab.query import step

if TYPE_CHECKING:
    from trajlab.protect.noise import Noise
    from trajlab.store import Store

GUESSABLE = 2**40
"""Seeds below are tried in an afternoon."""


def clip(store: Store, release_id: str, noise: Noise, table: Table, rng: np.random.Generator) -> pl.DataFrame:
    """Counts in which of everybody so many slots of a unit count, and no more."""
    found = store.frame(
        step("4_counts/_clipped"),
        release_id=release_id,
        unit_slots=noise.unit_slots(table.slots, table.slots_per_day),
        clip=noise.bound(table.slots, table.slots_per_day),
        key=rng.bytes(32).hex(),
    )
    return found.with_columns(contributors=pl.col("people"))


def estimate_total(counts: pl.DataFrame, noise: Noise, table: Table) -> tuple[int, int]:
    """How many people there are, as anybody can read it off the noisy table: an interval that holds in 95 of 100."""
    mean = person_slots(counts) / table.slots
    error = 1.96 * math.sqrt(noise.variance(table.slots, table.slots_per_day) * len(table.cells) / table.slots)
    low, high = math.ceil(mean - error), math.floor(mean + error)
    if low > high:
        low = high = round(mean)
    return max(low, 0), max(high, 0)


def person_slots(counts: pl.DataFrame) -> int:
    return int(counts["people"].to_numpy().sum())


def describe(steps: Sequence[Any], table: Table, seed: int, clipped: float) -> Iterator[tuple[str, float, str]]:
    """Notes on a release with noise: what each is about, the share that it speaks of, and the words."""
    noise, *after = steps
    scale = noise.scale(table.slots, table.slots_per_day)
    claim = (
        f"{noise.claim(table.slots, table.slots_per_day)}: {noise.law} noise of scale {scale:.4g} on each of "
        f"{table.slots * len(table.cells):,} counts, empty ones too. It holds for adding or taking away the positions "
        f"of one {noise.unit}, filled ones included, where cells and study box are known anyway: the cells are those "
        "in which anybody of the lab has a record"
    )
    yield "claim", 1.0, claim
    yield "flows", 1.0, "no flows are published with noise: every pair of cells would need a count of its own"
    if noise.clip:
        bound = noise.bound(table.slots, table.slots_per_day)
        note = f"so that nobody counts in more than {bound} slots of a {noise.unit}"
        yield "clip", clipped, f"{clipped:.1%} of person-slots are not counted, {note}"
    if seed < GUESSABLE:
        guessed = (
            f"warning: the noise is drawn from seed={seed}, which can be guessed, and whoever has it subtracts the "
            "noise: give a seed of 62 random bits, and keep it as secret as the records"
        )
        yield "seed", 1.0, guessed
    if after:
        goes = "come" if len(after) > 1 else "comes"
        later = (
            f"{' and '.join(map(name_of, after))} {goes} after the noise, by the noisy numbers: that is what anybody "
            "could do to the table, costs nothing of ε and protects nobody further"
        )
        yield "after noise", 1.0, later
