"""Exact matching at scale: who goes where at the least total cost, with a proof.

    transport         amounts at sources to amounts at sinks, cost = distance in the plane
    transport_within  the same to sinks that take between a low and a high amount, or pay for leaving them
    assign            rows to columns one to one, most of whose pairs cost the same
    nearest_first     the quick way, for those who ask for it: nearest first, not optimal
    spread            from amounts between groups to a sink for every single member

Nothing here knows what is being matched. Every answer carries `cost` and `bound`, a dual
bound below which no answer lies, so `cost - bound` says how far from the best it can be.
Equal answers are told apart by a seeded preference (`ties`), not by the solver's path.
"""

from trajlab.matching.assignment import Assignment, assign
from trajlab.matching.blas import one_blas_thread
from trajlab.matching.nearest import nearest_first
from trajlab.matching.plan import Plan
from trajlab.matching.spreading import Weights, spread
from trajlab.matching.transport import transport
from trajlab.matching.within import transport_within

__all__ = [
    "Assignment",
    "Plan",
    "Weights",
    "assign",
    "nearest_first",
    "one_blas_thread",
    "spread",
    "transport",
    "transport_within",
]
