"""What a transport problem answers: amounts from sources to sinks, and the proof that none are better."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Plan:
    """Positive amounts, sorted by source and sink; no other plan costs less than `bound`."""

    source: Ints
    sink: Ints
    amount: Ints
    cost: float
    bound: float
    rounds: int = 0

    @classmethod
    def nothing(cls) -> Plan:
        none = np.empty(0, dtype=np.int64)
        return cls(none, none, none, cost=0.0, bound=0.0)

    @classmethod
    def of(cls, source: Ints, sink: Ints, amount: Ints, cost: float = 0.0, bound: float = 0.0, rounds: int = 0) -> Plan:
        """A plan from amounts in any order, zeros among them."""
        order = np.lexsort((sink, source))
        order = order[amount[order] > 0]
        return cls(source[order], sink[order], amount[order], cost, bound, rounds)


def spread(plan: Plan, source_of: Ints, rng: np.random.Generator) -> Ints:
    """A sink for every member: those of one source are alike, so chance says who goes where.

    `source_of` names each member's source; each source has as many members as its supply.
    """
    order = np.lexsort((rng.random(len(source_of)), source_of))
    sinks = np.empty(len(source_of), dtype=np.int64)
    sinks[order] = np.repeat(plan.sink, plan.amount)
    return sinks
