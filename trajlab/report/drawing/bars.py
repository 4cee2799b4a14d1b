"""Bars in groups, each with its interval and the yardsticks it is to be held against.

A `Groups` is what to draw. It becomes a chart of the page (`html`), or one of several on a
sheet of its own (`sheets`). Names below the groups are wrapped between words; where a word
is wider than its group, all of them are written upwards.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from trajlab.report import words
from trajlab.report.drawing.charts import SERIES, WIDE, Frame, both, legend, round_steps
from trajlab.report.markup import Html, join, tag

CHARACTER = 8.0
"""Width of a letter in a chart, in its own units: an estimate on the safe side, for wide fonts too."""
LINE = 17
_MARKS = 2
"""Kinds of marks: a stroke and a ring."""


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

    description: str
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
        pitch = self._pitch(width)
        drawn = [*frame.grid(step, steps, self.say)]
        for n, (name, bars) in enumerate(self.groups):
            left = frame.left + n * pitch
            drawn += [self._bar(frame, step * steps, name, bars, m, left, pitch) for m in range(len(bars[:SERIES]))]
            drawn += self._name(name, left + pitch / 2, frame.bottom, width)
        return drawn

    def lines_below(self, width: float) -> int:
        """How many lines the longest name below the groups takes."""
        if not self.fits(width):
            return math.ceil(max(len(name) for name, _ in self.groups) * CHARACTER / LINE)
        return max((len(_wrapped(name, self._pitch(width))) for name, _ in self.groups), default=1)

    def fits(self, width: float) -> bool:
        """Whether every word of the names below is as narrow as its group."""
        words_below = (word for name, _ in self.groups for word in _wrapped(name, 0))
        return max(map(len, words_below), default=0) * CHARACTER <= self._pitch(width)

    def _pitch(self, width: float) -> float:
        return (int(width) - 52) / max(len(self.groups), 1)

    def _name(self, name: str, middle: float, bottom: float, width: float) -> list[Html]:
        if not self.fits(width):
            turned = f"translate({middle + 4:.1f} {bottom + 10}) rotate(-90)"
            return [tag("text", name, transform=turned, text_anchor="end", cls="group-name")]
        lines = enumerate(_wrapped(name, self._pitch(width)))
        centred = {"x": f"{middle:.1f}", "text_anchor": "middle", "cls": "group-name"}
        return [tag("text", line, y=bottom + 20 + LINE * k, **centred) for k, line in lines]

    def _frame(self, width: int, height: int) -> Html:
        below = LINE * (self.lines_below(width) - 1)
        return tag(
            "svg",
            self.parts(width, height),
            viewBox=f"0 0 {width} {height + below}",
            role="img",
            aria_label=self.description,
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
        drawn = [tag("rect", tag("title", self._hover_text(group, n, bar)), **box, height=height, cls=f"group f{n}")]
        if bar.low is not None and bar.high is not None:
            drawn.append(tag("path", d=f"M{middle:.1f} {y(bar.low):.1f}V{y(bar.high):.1f}", cls="whisker"))
        for m, name in enumerate(self.marks[:_MARKS]):
            value = bar.marks.get(name)
            if value is not None:
                drawn.append(mark(m, middle, y(value), thick))
        return join(drawn)

    def _hover_text(self, group: str, n: int, bar: Bar) -> str:
        within = (
            f" ({self.say(bar.low)} to {self.say(bar.high)})" if bar.low is not None and bar.high is not None else ""
        )
        value = "" if bar.value is None else self.say(bar.value)
        marks = [f"{name}: {self.say(value)}" for name, value in bar.marks.items() if value is not None]
        return "\n".join([group, f"{self.series[n]}: {value}{within}", *marks])


def mark(n: int, x: float, y: float, thick: float) -> Html:
    if n == 0:
        half = thick / 2 + 2
        return tag("path", d=f"M{x - half:.1f} {y:.1f}h{2 * half:.1f}", cls="mark")
    size = min(4.0, max(2.0, thick / 3))
    return tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=f"{size:.1f}", cls="mark")


def _wrapped(name: str, width: float) -> list[str]:
    """Lines of whole words that are no wider, but for words that are."""
    return textwrap.wrap(name, max(1, int(width / CHARACTER)), break_long_words=False, break_on_hyphens=False) or [""]
