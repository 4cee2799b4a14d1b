"""Small SVG charts: lines, columns and shares. Drawn twice, for wide and for narrow screens.

Text in a scaled drawing would shrink with it, so each chart is drawn at two widths and the
style sheet shows the one that fits. Colours are variables of the style sheet, so that they
follow light and dark.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from trajlab.report import words
from trajlab.report.markup import Html, join, tag

WIDE, NARROW = 1000, 340
SERIES = 8
"""Lines that one chart can hold and a reader can tell apart."""

_LETTER = 8.2
"""Width of a letter of a bold name, in the units of a chart: an estimate on the safe side."""

Points = Sequence[tuple[float, float | None]]


@dataclass(frozen=True)
class Axis:
    """The x axis of a line chart: its ends, where to write what, and how to say a position."""

    low: float
    high: float
    labels: Sequence[tuple[float, str]]
    rules: Sequence[float] = ()
    say: Callable[[float], str] = words.number


def lines(description: str, series: dict[str, Points], x: Axis, *, say: Callable[[float], str] = words.number) -> Html:
    """One line a series; a missing value, or a step wider than the smallest one, breaks the line."""
    shown = dict(list(series.items())[:SERIES])
    step, steps = round_steps(max((y for points in shown.values() for _, y in points if y is not None), default=0))
    top = step * steps

    def draw(width: int) -> Html:
        frame = Frame(width, 260 if width == WIDE else 210, left=48)
        at = frame.scale_x(x.low, x.high)
        parts = [*frame.grid(step, steps, say)]
        parts += [tag("path", d=f"M{at(rule):.1f} {frame.top}V{frame.bottom}", cls="rule") for rule in x.rules]
        parts += [
            tag("text", label, x=f"{at(place):.1f}", y=frame.bottom + 20, text_anchor="middle")
            for place, label in x.labels
        ]
        for n, points in enumerate(shown.values()):
            drawn = _path([(at(px), None if y is None else frame.y(y / top)) for px, y in points])
            parts.append(tag("path", d=drawn, cls=f"line s{n}"))
        if width == WIDE:
            parts.append(_hover(frame, at, shown, x, say))
        return frame.svg(description, parts)

    return join(legend([(name, f"s{n}") for n, name in enumerate(shown)]), both(draw))


def columns(description: str, bars: Sequence[tuple[str, float]], *, say: Callable[[float], str] = words.number) -> Html:
    """One upright bar a value, as many labels below as fit."""
    step, steps = round_steps(max((value for _, value in bars), default=0))
    top = step * steps

    def draw(width: int) -> Html:
        frame = Frame(width, 220 if width == WIDE else 190, left=56)
        pitch = (frame.right - frame.left) / max(len(bars), 1)
        every = math.ceil(len(bars) * 76 / (frame.right - frame.left)) or 1
        thick = min(pitch * 0.72, 56) if pitch > 4 else pitch
        parts = [*frame.grid(step, steps, say)]
        for n, (label, value) in enumerate(bars):
            middle, y = frame.left + (n + 0.5) * pitch, frame.y(value / top)
            box = {"x": f"{middle - thick / 2:.1f}", "y": f"{y:.1f}", "width": f"{thick:.1f}"}
            height = f"{frame.bottom - y:.1f}"
            parts.append(tag("rect", tag("title", f"{label}: {say(value)}"), **box, height=height, cls="bar"))
            if n % every == 0:
                parts.append(tag("text", label, x=f"{middle:.1f}", y=frame.bottom + 20, text_anchor="middle"))
        return frame.svg(description, parts)

    return both(draw)


def shares(
    description: str, rows: Sequence[tuple[str, Sequence[float]]], classes: Sequence[str], *, of: str = "of counts are"
) -> Html:
    """One full-width bar a row, cut into classes that add up to one."""

    def draw(width: int) -> Html:
        bars, y = [], 0
        for name, parts in rows:
            lines = textwrap.wrap(name, int(width / _LETTER)) or [""]
            bars.append(_share_bar(lines, parts, classes, width, y, of))
            y += 45 + 17 * len(lines)
        return _svg(width, y - 6, description, bars)

    return join(legend([(name, f"d{k}") for k, name in enumerate(classes)]), both(draw))


def both(draw: Callable[[int], Html]) -> Html:
    """The same drawing for wide and for narrow screens."""
    return join(draw(WIDE), draw(NARROW))


def legend(entries: Sequence[tuple[str, str]]) -> Html:
    return tag("ul", [tag("li", tag("i", cls=f"chip {style}"), name) for name, style in entries], cls="legend")


def round_steps(value: float) -> tuple[float, int]:
    """The size and number of the steps of an axis from 0 to the value or a little above."""
    if value <= 0:
        return 1.0, 1
    size = 10.0 ** math.floor(math.log10(value / 4))
    step = next(times * size for times in (1, 2, 5, 10) if times * size * 4.0001 >= value)
    return step, max(1, math.ceil(value / step - 1e-9))


class Frame:
    """The plot area: where the axes are and what is written along them."""

    def __init__(self, width: int, height: int, *, left: int) -> None:
        self.width, self.height = width, height
        self.left, self.right, self.top, self.bottom = left, width - 8, 12, height - 30

    def y(self, part: float) -> float:
        return self.bottom - part * (self.bottom - self.top)

    def scale_x(self, low: float, high: float) -> Callable[[float], float]:
        unit = (self.right - self.left) / ((high - low) or 1)
        return lambda x: self.left + (x - low) * unit

    def grid(self, step: float, steps: int, say: Callable[[float], str]) -> list[Html]:
        drawn = []
        for n in range(steps + 1):
            y = self.y(n / steps)
            drawn += [
                tag("path", d=f"M{self.left} {y:.1f}H{self.right}", cls="axis" if n == 0 else "grid"),
                tag("text", say(step * n), x=self.left - 8, y=f"{y + 4:.1f}", text_anchor="end"),
            ]
        return drawn

    def svg(self, description: str, parts: Sequence[Html]) -> Html:
        return _svg(self.width, self.height, description, parts)


def _svg(width: int, height: int, description: str, parts: Sequence[Html]) -> Html:
    shape = "wide" if width == WIDE else "narrow"
    return tag("svg", parts, viewBox=f"0 0 {width} {height}", role="img", aria_label=description, cls=f"chart {shape}")


def _share_bar(
    name: Sequence[str], parts: Sequence[float], classes: Sequence[str], width: int, y: int, of: str
) -> Html:
    drawn = [tag("text", line, x=0, y=y + 15 + 17 * n, cls="strong") for n, line in enumerate(name)]
    top = y + 6 + 17 * len(name)
    x = 0.0
    for k, part in enumerate(parts):
        size, shown = part * width, words.share(part)
        if size >= 0.1:
            title = tag("title", f"{' '.join(name)}: {shown} {of} {classes[k]}")
            box = {"x": f"{x:.1f}", "y": str(top), "width": f"{max(size - 1, 0.5):.1f}", "height": "30"}
            drawn.append(tag("rect", title, **box, cls=f"d{k}"))
        if size > 13 + 7.5 * len(shown):
            where = {"x": f"{x + size / 2:.1f}", "y": str(top + 20)}
            drawn.append(tag("text", shown, **where, text_anchor="middle", cls=f"on d{k}"))
        x += size
    return join(drawn)


def _path(points: Sequence[tuple[float, float | None]]) -> str:
    steps = [b[0] - a[0] for a, b in pairwise(points)]
    widest = min(steps, default=0) * 1.5
    written, previous = [], None
    for x, y in points:
        if y is None:
            previous = None
            continue
        joined = previous is not None and x - previous <= widest
        written.append(f"{'L' if joined else 'M'}{x:.1f} {y:.1f}" + ("" if joined else "h0"))
        previous = x
    return "".join(written)


def _hover(
    frame: Frame, at: Callable[[float], float], shown: dict[str, Points], x: Axis, say: Callable[[float], str]
) -> Html:
    """Invisible strips, one a position, that say the values there."""
    values: dict[float, list[str]] = {}
    for name, points in shown.items():
        for place, y in points:
            if y is not None:
                values.setdefault(place, []).append(f"{name}: {say(y)}")
    places = sorted(values)
    upright = f"V{frame.bottom}H"
    strips = [
        tag(
            "path",
            tag("title", "\n".join([x.say(a), *values[a]])),
            d=f"M{at(a):.1f} {frame.top}H{at(b):.1f}{upright}{at(a):.1f}z",
        )
        for a, b in pairwise([*places, x.high])
    ]
    return tag("g", strips, cls="strips")
