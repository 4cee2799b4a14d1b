"""The least of what passes, and what nothing beats, in a product of chains: not by measuring everything.

A point is a place on each of several chains, each from weak to strong. Its risk never rises when one of the places
moves on. So a point between two of equal risk has that risk, and need not be measured; neither can it be better than
the weaker of the two. What a point loses is known before its risk: where another one loses no more, and has no more
risk than this one can have at least, this one is beaten before it is measured.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

Point = tuple[int, ...]
Measure = Callable[[Point], float]
Loss = Callable[[Point], float | None]
"""What a point loses; None where nothing of it is left to lose."""


def search(
    shape: Sequence[int],
    risk: Measure,
    *,
    within: float = 0.0,
    skip: Callable[[Point, float | None], bool] | None = None,
    found: dict[Point, float] | None = None,
) -> dict[Point, float]:
    """Points with their risk: whatever is not among them has that of a weaker one that is, or less by `within`.

    `shape` is how many places each chain has; `risk` is asked once for a point at most, and not at all where `skip`
    says so of the point and the least risk that it can have. `found` has what is known already.
    """
    found = {} if found is None else found
    for point in _ends_first(shape):
        if point in found:
            continue
        least = max((risk for other, risk in found.items() if is_weaker(point, other)), default=None)
        most = min((risk for other, risk in found.items() if is_weaker(other, point)), default=None)
        if least is not None and most is not None and most - least <= within:
            continue
        if skip is None or not skip(point, least):
            found[point] = risk(point)
    return found


def search_frontier(
    free: Sequence[int], shape: Sequence[int], risk: Measure, loss: Loss, *, within: float = 0.0
) -> dict[Point, float]:
    """Among the points found are all that none beats in both risk and loss, but for differences in risk of `within`.

    The first places of a point are `free`: along these risk may rise, and nothing is concluded from one to another.
    """
    pairs: list[tuple[float, float]] = []
    every: dict[Point, float] = {}

    def beaten(point: Point, least: float | None) -> bool:
        own = loss(point)
        return own is not None and any(
            there <= own and risk <= (least or 0.0) + within and (there < own or risk < (least or 0.0))
            for risk, there in pairs
        )

    def measure(point: Point) -> float:
        every[point] = value = risk(point)
        own = loss(point)
        if own is not None:
            pairs.append((value, own))
        return value

    for first in _product(free):
        search(
            shape,
            lambda rest, first=first: measure((*first, *rest)),  # type: ignore[misc]
            within=within,
            skip=lambda rest, least, first=first: beaten((*first, *rest), least),  # type: ignore[misc]
        )
    return every


def search_cheapest(
    free: Sequence[int],
    shape: Sequence[int],
    is_unsafe: Measure,
    loss: Loss,
    passes: Callable[[Point], bool],
    number: int,
) -> dict[Point, float]:
    """Among the points found are the `number` of smallest loss that pass; `is_unsafe` is 0 or 1 and never rises.

    A point that does more than another one that passes, at the same free places, is none of them.
    """
    found: dict[Point, dict[Point, float]] = {first: {} for first in _product(free)}

    def skip(point: Point, _: float | None) -> bool:
        own = loss(point)
        better = [there for there in map(loss, least_of(every(), passes, len(free))) if there is not None]
        return own is not None and len(better) >= number and sorted(better)[number - 1] < own

    def every() -> dict[Point, float]:
        return {(*first, *rest): value for first, part in found.items() for rest, value in part.items()}

    known = -1
    while known != len(every()):  # one that passed may turn out to do more than a weaker one: then look again
        known = len(every())
        for first, part in found.items():
            search(
                shape,
                lambda rest, first=first: is_unsafe((*first, *rest)),  # type: ignore[misc]
                skip=lambda rest, least, first=first: skip((*first, *rest), least),  # type: ignore[misc]
                found=part,
            )
    return every()


def search_everything(shape: Sequence[int], risk: Measure) -> dict[Point, float]:
    """Every point: what the others must agree with, and what to do where risk may rise."""
    return {point: risk(point) for point in _product(shape)}


def least_of(points: Iterable[Point], passes: Callable[[Point], bool], free: int) -> list[Point]:
    """Points that pass, but for those that do more than another one that passes with the same free places."""
    passing = [point for point in points if passes(point)]
    return [
        point
        for point in passing
        if not any(other != point and other[:free] == point[:free] and is_weaker(other, point) for other in passing)
    ]


def is_weaker(one: Point, other: Point) -> bool:
    """Whether one is nowhere further on than the other."""
    return all(a <= b for a, b in zip(one, other, strict=True))


def _product(shape: Sequence[int]) -> Iterator[Point]:
    return itertools.product(*(range(places) for places in shape))


def _ends_first(shape: Sequence[int]) -> Iterator[Point]:
    """Every point: the weakest and the strongest, then line by line along the longest chain, its ends and middles."""
    if not shape:
        yield ()
        return
    yield tuple(0 for _ in shape)
    yield tuple(places - 1 for places in shape)
    along = max(range(len(shape)), key=lambda axis: shape[axis])
    others = [places for axis, places in enumerate(shape) if axis != along]
    for rest in _product(others):
        for place in _middles(shape[along]):
            yield (*rest[:along], place, *rest[along:])


def _middles(places: int) -> Iterator[int]:
    """0, the last, the one in the middle, then the middles of both halves, and so on."""
    yield 0
    yield places - 1
    parts = [(0, places - 1)]
    while parts:
        first, last = parts.pop(0)
        if last - first > 1:
            middle = (first + last) // 2
            yield middle
            parts += [(first, middle), (middle, last)]
