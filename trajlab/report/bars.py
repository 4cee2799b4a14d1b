"""Bars in groups, each with its interval and the yardsticks it is to be held against.

A `Groups` is what to draw. It becomes a chart of the page (`html`), or one of several on a
sheet of its own (`sheet`): an SVG file that needs nothing around it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from trajlab.report import words
from trajlab.report.charts import SERIES, WIDE, Frame, both, legend, round_steps
from trajlab.report.markup import Html, join, tag
from trajlab.report.page import style

_CHARACTER = 7.2
"""Width of a letter in a chart, in its own units: an estimate on the safe side."""
_LINE = 17
_MARKS = 2
"""Kinds of marks: a stroke and a ring."""
_FONT = "system-ui, Segoe UI, Roboto, Noto Sans, Liberation Sans, Arial, sans-serif"


@dataclass(frozen=True)
class Bar:
    """A value, its interval where it has one, and its yardsticks by name."""

    value: float | None
    low: float | None = None
    high: float | None = None
    marks: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Groups:
    """Groups of bars side by side; every group has one bar for each of the series, in their order."""

    told: str
    series: Sequence[str]
    groups: Sequence[tuple[str, Sequence[Bar]]]
    marks: Sequence[str] = ()
    most: float = 0.0
    """The axis reaches at least this far, so that several charts can share a scale."""
    say: Callable[[float], str] = words.share

    @property
    def legend(self) -> list[tuple[str, str]]:
        bars = [(name, f"s{n}") for n, name in enumerate(self.series[:SERIES])]
        return bars + [(name, f"m{n}") for n, name in enumerate(self.marks[:_MARKS])]

    def html(self) -> Html:
        return join(legend(self.legend), both(self.drawing))

    def drawing(self, width: int) -> Html:
        """The chart without its legend, for those that share one."""
        return self._frame(width, 250 if width == WIDE else 220)

    def parts(self, width: float, height: float) -> list[Html]:
        """The drawing without a frame around it; names below the groups may take more than the height."""
        frame = Frame(int(width), int(height), left=44)
        highest = max(self.most, self._highest)
        step, steps = (0.2, 5) if 0.8 < highest <= 1 else round_steps(highest)
        pitch = (frame.right - frame.left) / max(len(self.groups), 1)
        drawn = [*frame.grid(step, steps, self.say)]
        for n, (name, bars) in enumerate(self.groups):
            left = frame.left + n * pitch
            drawn += [self._bar(frame, step * steps, name, bars, m, left, pitch) for m in range(len(bars[:SERIES]))]
            drawn += [
                tag("text", line, x=f"{left + pitch / 2:.1f}", y=frame.bottom + 20 + _LINE * k, text_anchor="middle",
                    cls="group-name")
                for k, line in enumerate(_wrapped(name, pitch))
            ]  # fmt: skip
        return drawn

    def lines_below(self, width: float) -> int:
        """How many lines the longest name below the groups takes."""
        pitch = (width - 52) / max(len(self.groups), 1)
        return max((len(_wrapped(name, pitch)) for name, _ in self.groups), default=1)

    def _frame(self, width: int, height: int) -> Html:
        below = _LINE * (self.lines_below(width) - 1)
        return tag(
            "svg",
            self.parts(width, height),
            viewBox=f"0 0 {width} {height + below}",
            role="img",
            aria_label=self.told,
            cls=f"chart {'wide' if width == WIDE else 'narrow'}",
        )

    @property
    def _highest(self) -> float:
        bars = [bar for _, group in self.groups for bar in group]
        values = [value for bar in bars for value in (bar.value, bar.high, *bar.marks.values())]
        return max((value for value in values if value is not None), default=0.0)

    def _bar(
        self, frame: Frame, top: float, group: str, bars: Sequence[Bar], n: int, left: float, pitch: float
    ) -> Html:
        bar = bars[n]
        if bar.value is None:
            return join()
        share = min(pitch * 0.84, 92 * len(bars)) / len(bars)
        thick = share * 0.86
        middle = left + pitch / 2 + (n - (len(bars) - 1) / 2) * share

        def y(value: float) -> float:
            return frame.y(value / top)

        box = {"x": f"{middle - thick / 2:.1f}", "y": f"{y(bar.value):.1f}", "width": f"{thick:.1f}"}
        height = f"{frame.bottom - y(bar.value):.1f}"
        drawn = [tag("rect", tag("title", self._said(group, n, bar)), **box, height=height, cls=f"group f{n}")]
        if bar.low is not None and bar.high is not None:
            drawn.append(tag("path", d=f"M{middle:.1f} {y(bar.low):.1f}V{y(bar.high):.1f}", cls="whisker"))
        for m, name in enumerate(self.marks[:_MARKS]):
            value = bar.marks.get(name)
            if value is not None:
                drawn.append(_mark(m, middle, y(value), thick))
        return join(drawn)

    def _said(self, group: str, n: int, bar: Bar) -> str:
        within = (
            f" ({self.say(bar.low)} to {self.say(bar.high)})" if bar.low is not None and bar.high is not None else ""
        )
        value = "" if bar.value is None else self.say(bar.value)
        marks = [f"{name}: {self.say(value)}" for name, value in bar.marks.items() if value is not None]
        return "\n".join([group, f"{self.series[n]}: {value}{within}", *marks])


class Chart(Protocol):
    """What a sheet can hold: bars in groups, or curves."""

    @property
    def told(self) -> str: ...

    @property
    def legend(self) -> list[tuple[str, str]]: ...

    def parts(self, width: float, height: float) -> list[Html]: ...

    def lines_below(self, width: float) -> int: ...


def sheet(title: str, rows: Sequence[tuple[str, Sequence[tuple[str, Chart]]]], note: str) -> str:
    """Charts in rows under one title, as the text of an SVG file; the name of several rows is written once."""
    y, drawn, named = 34.0, [tag("text", title, x=24, y=34, cls="title")], ""
    for name, charts in rows:
        if name and name != named:
            y += 34
            drawn.append(tag("text", name, x=24, y=f"{y:.0f}", cls="strong"))
        named = name
        wide = (WIDE - 48 - 28 * (len(charts) - 1)) / len(charts)
        heads = max(len(_legend_lines(chart.legend, wide)) for _, chart in charts)
        below = max(chart.lines_below(wide) for _, chart in charts)
        for n, (caption, chart) in enumerate(charts):
            x = 24 + n * (wide + 28)
            drawn.append(tag("text", caption, x=f"{x:.1f}", y=f"{y + 30:.0f}", cls="group-name"))
            drawn.append(tag("g", _legend_drawn(chart.legend, wide), transform=f"translate({x:.1f} {y + 52:.0f})"))
            inner = tag("title", chart.told), chart.parts(wide, 250)
            drawn.append(tag("g", *inner, transform=f"translate({x:.1f} {y + 46 + 22 * heads:.0f})"))
        y += 46 + 22 * heads + 250 + _LINE * (below - 1)
    for line in textwrap.wrap(note, 138):
        y += _LINE + 1
        drawn.append(tag("text", line, x=24, y=f"{y + 10:.0f}"))
    height = round(y + 30)
    return tag(
        "svg",
        tag("title", title),
        tag("style", style("colours", "charts")),
        tag("rect", width=WIDE, height=height, cls="ground"),
        drawn,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDE} {height}",
        width=WIDE,
        height=height,
        font_family=_FONT,
        role="img",
        cls="chart",
    )


def _mark(n: int, x: float, y: float, thick: float) -> Html:
    if n == 0:
        half = thick / 2 + 2
        return tag("path", d=f"M{x - half:.1f} {y:.1f}h{2 * half:.1f}", cls="mark")
    size = min(4.0, max(2.0, thick / 3))
    return tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=f"{size:.1f}", cls="mark")


def _wrapped(name: str, width: float) -> list[str]:
    return textwrap.wrap(name, max(4, int(width / _CHARACTER))) or [""]


def _legend_lines(entries: Sequence[tuple[str, str]], width: float) -> list[list[tuple[str, str]]]:
    lines: list[list[tuple[str, str]]] = [[]]
    used = 0.0
    for entry in entries:
        size = 40 + _CHARACTER * len(entry[0])
        if lines[-1] and used + size > width:
            lines.append([])
            used = 0.0
        lines[-1].append(entry)
        used += size
    return lines


def _legend_drawn(entries: Sequence[tuple[str, str]], width: float) -> list[Html]:
    drawn = []
    for n, line in enumerate(_legend_lines(entries, width)):
        x = 0.0
        for name, kind in line:
            if kind[0] == "s":
                chip = tag("rect", x=f"{x:.0f}", y=22 * n - 10, width=12, height=12, rx=3, cls=f"f{kind[1:]}")
            else:
                chip = _mark(int(kind[1:]), x + 6, 22 * n - 4, 10)
            drawn += [chip, tag("text", name, x=f"{x + 19:.0f}", y=22 * n, cls="group-name")]
            x += 40 + _CHARACTER * len(name)
    return drawn
