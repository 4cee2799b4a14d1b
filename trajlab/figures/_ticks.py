"""Numbers along the x axis of a figure: where they stand, how they are written, and how far the axis reaches.

The values themselves where they are few, no shares, and lie apart, else round numbers; never two that touch, and
two at least where the values differ.
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
    low, high, here = (math.log10(max(n, 1e-9)) if log else n for n in (*ends, value))
    return (here - low) / ((high - low) or 1)


def _logarithmic(ends: Ends) -> Ticks:
    """Powers of ten, with 2 and 5 between them where the axis has too few."""
    low, high = (math.log10(max(end, 1e-9)) for end in ends)
    powers = range(math.floor(low), math.ceil(high) + 1)
    for times in ((1,), (1, 2, 5)):
        places = [n * 10.0**power for power in powers for n in times]
        inside = [place for place in places if ends[0] * (1 - 1e-9) <= place <= ends[1] * (1 + 1e-9)]
        if len(inside) > 2:
            break
    return tuple((place, words.number(place)) for place in inside)


def _apart(ticks: Ticks, ends: Ends, *, log: bool) -> bool:
    spans = [(part_of(ends, place, log=log), _ROOM * len(said) / 2) for place, said in ticks]
    told_apart = len({said for _, said in ticks}) == len(ticks)
    return told_apart and all(b - a >= half + other for (a, half), (b, other) in pairwise(spans))
