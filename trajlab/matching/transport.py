"""The transportation problem in the plane: supplies to demands at the least total distance.

A source is a point, or a set of points of which the nearest to a sink counts. Small
problems go to the network simplex as one dense matrix; large ones are sifted.
"""

from __future__ import annotations

from trajlab.matching.plan import Floats, Ints, Plan
from trajlab.matching.plane import Plane
from trajlab.matching.sifting import sift
from trajlab.matching.ties import Keys


def transport(
    points: Floats,
    supply: Ints,
    sinks: Floats,
    demand: Ints,
    *,
    source_keys: Keys,
    sink_keys: Keys,
    first: Ints | None = None,
    largest: float | None = None,
    threads: int = 1,
) -> Plan:
    """Move every unit of supply to a demand, exactly and as cheaply as possible.

    `points` (P, 2) and `sinks` (m, 2) are in metres; `supply` and `demand` are whole,
    positive and have the same total. Source i owns the points from `first[i]` to
    `first[i + 1]`; without `first` each source is one point. Keys tell equal answers apart
    (see `ties`). No distance exceeds `largest`; without it, it is found.
    """
    plane = Plane(points, first, sinks, source_keys, sink_keys, largest)
    solved = sift(plane, supply, demand, threads=threads)
    return Plan(
        solved.source,
        solved.sink,
        solved.amount,
        cost=float(solved.amount @ plane.distance(solved.source, solved.sink)),
        bound=max(solved.bound, 0.0),
        rounds=solved.rounds,
    )
