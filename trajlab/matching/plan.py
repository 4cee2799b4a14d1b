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


def rank_within(line: Ints | npt.NDArray[np.int32]) -> Ints:
    """The place of each entry among the equal ones that follow each other, from 0."""
    starts = np.flatnonzero(np.diff(line, prepend=-1))
    return np.arange(len(line)) - np.repeat(starts, np.diff(starts, append=len(line)))
