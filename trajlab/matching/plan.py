"""What a transport problem answers: amounts from sources to sinks, and the proof that none are better."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Plan:
    """Amounts from sources to sinks, in no order; no other plan costs less than `bound`."""

    source: Ints
    sink: Ints
    amount: Ints
    cost: float = 0.0
    bound: float = 0.0
    rounds: int = 0

    @classmethod
    def nothing(cls) -> Plan:
        none = np.empty(0, dtype=np.int64)
        return cls(none, none, none)


def spread(plan: Plan, source_of: Ints, rng: np.random.Generator) -> Ints:
    """A sink for every member: those of one source are alike, so chance says who goes where.

    `source_of` names each member's source; each source has as many members as its supply.
    """
    ends = np.lexsort((plan.sink, plan.source))
    members = np.lexsort((rng.random(len(source_of)), source_of))
    sinks = np.empty(len(source_of), dtype=np.int64)
    sinks[members] = np.repeat(plan.sink[ends], plan.amount[ends])
    return sinks


def rank_within(line: Ints | npt.NDArray[np.int32]) -> Ints:
    """The place of each entry among the equal ones that follow each other, from 0."""
    starts = np.flatnonzero(np.diff(line, prepend=-1))
    return np.arange(len(line)) - np.repeat(starts, np.diff(starts, append=len(line)))
