"""Numbers along the x axis of a figure: where they stand, how they are written, and how far the axis reaches.

The values themselves where they are few, no shares, and lie apart, else round numbers; never two that touch, and
two at least where the values differ. A logarithmic axis that begins at 0 has it at its end: places go by the
logarithm of 1 + 200 times the share of the way, which is that of the value wherever it is not small.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from trajlab.report import words
from trajlab.report.drawing.charts import round_steps

if TYPE_CHECKING:
    from trajlab.figures._figure import Figure

FEW = 8
_ROOM = 0.014
"""Of the axis: what a letter takes, with what keeps two numbers apart."""

_FROM_ZERO = 200
"""Of a logarithmic axis from 0: how much of it goes to small values; below a two-hundredth it is nearly even."""

Ticks = tuple[tuple[float, str], ...]
Ends = tuple[float, float]


def along(values: list[float], figure: Figure) -> tuple[Ticks, Ends]:
    """What to write along the axis, and its ends; values are in order."""
    ends = values[0], values[-1]
    say = words.share if figure.share_x else words.number
    exact = tuple((value, say(value)) for value in values)
    few = len(values) == 1 or (len(values) <= FEW and not figure.share_x)
    if few and _apart(exact, ends, log=figure.log_x):
        return exact, ends
    if figure.log_x:
        return _logarithmic(ends), ends
    low = ends[0] if ends[0] > ends[1] / 2 else 0.0
    step, _ = round_steps(ends[1] - low)
    first, last = math.floor(low / step + 1e-9), math.ceil(ends[1] / step - 1e-9)
    places = [step * n for n in range(first, last + 1)]
    digits = max(0, -math.floor(math.log10(step)))
    written = words.percentages(step) if figure.share_x else lambda place: f"{place:,.{digits}f}"
    return tuple((place, written(place)) for place in places), (places[0], places[-1])


def part_of(ends: Ends, value: float, *, log: bool) -> float:
    """Where a value lies between the ends, from 0 to 1."""

    def place(n: float) -> float:
        if not log:
            return n
        return math.log10(max(n, 1e-9) if ends[0] > 0 else 1 + _FROM_ZERO * n / (ends[1] or 1))

    low, high, here = map(place, (*ends, value))
    return (here - low) / ((high - low) or 1)


def _logarithmic(ends: Ends) -> Ticks:
    """Powers of ten, with 2 and 5 between them where the axis has too few; 0 too where it begins there."""
    least = ends[0] if ends[0] > 0 else max(ends[1] / _FROM_ZERO, 1e-9)
    powers = range(math.floor(math.log10(least)), math.ceil(math.log10(max(ends[1], 1e-9))) + 1)
    for times in ((1,), (1, 2, 5)):
        places = [n * 10.0**power for power in powers for n in times]
        inside = [place for place in places if least * (1 - 1e-9) <= place <= ends[1] * (1 + 1e-9)]
        if len(inside) > 2:
            break
    ticks: list[tuple[float, str]] = [] if ends[0] > 0 else [(0.0, "0")]
    for place in inside:
        tick = place, words.number(place)
        if not ticks or ends[0] > 0 or _apart((ticks[-1], tick), ends, log=True):
            ticks.append(tick)
    return tuple(ticks)


def _apart(ticks: Ticks, ends: Ends, *, log: bool) -> bool:
    spans = [(part_of(ends, place, log=log), _ROOM * len(said) / 2) for place, said in ticks]
    told_apart = len({said for _, said in ticks}) == len(ticks)
    return told_apart and all(b - a >= half + other for (a, half), (b, other) in pairwise(spans))
