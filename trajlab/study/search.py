"""The least of what passes, in a product of chains: by bisection, not by trying everything.

A point is a place on each of several chains, each from weak to strong. Its risk never rises when one of the places
moves on. So a point between two of equal risk has that risk, and a point that is stronger than one and weaker than
another of equal risk has it too: neither has to be looked at, and neither can be better than the weaker one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

Point = tuple[int, ...]


def search(shape: Sequence[int], risk: Callable[[Point], float]) -> dict[Point, float]:
    """Points with their risk: whatever is not among them has the risk of a weaker one that is.

    `shape` is how many places each chain has; `risk` is asked once for a point at most.
    """
    found: dict[Point, float] = {}

    def value(point: Point) -> float:
        least = max((risk for other, risk in found.items() if is_weaker(point, other)), default=None)
        most = min((risk for other, risk in found.items() if is_weaker(other, point)), default=None)
        if least is not None and least == most:
            return least
        found[point] = risk(point)
        return found[point]

    along = max(range(len(shape)), key=lambda axis: shape[axis], default=0)

    def bisect(line: list[Point]) -> None:
        if len(line) > 2 and value(line[0]) != value(line[-1]):
            middle = len(line) // 2
            bisect(line[: middle + 1])
            bisect(line[middle:])
        elif len(line) <= 2:
            for point in line:
                value(point)

    if shape:
        value(tuple(0 for _ in shape))
        value(tuple(places - 1 for places in shape))
    others = [range(places) for axis, places in enumerate(shape) if axis != along]
    for rest in itertools.product(*others):
        bisect([(*rest[:along], place, *rest[along:]) for place in range(shape[along])] if shape else [()])
    return found


def search_everything(shape: Sequence[int], risk: Callable[[Point], float]) -> dict[Point, float]:
    """Every point: what `search` must agree with, and what to do where risk may rise."""
    return {point: risk(point) for point in itertools.product(*(range(places) for places in shape))}


def is_weaker(one: Point, other: Point) -> bool:
    """Whether one is nowhere further on than the other."""
    return all(a <= b for a, b in zip(one, other, strict=True))
