"""Points over numbers, joined or with a curve through them; stands on a sheet beside bars (`sheets`)."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trajlab.report import words
from trajlab.report.drawing.bars import CHARACTER, LINE
from trajlab.report.drawing.charts import SERIES, WIDE, Frame, both, legend, round_steps
from trajlab.report.markup import Html, join, tag

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Curve:
    """Points of one kind, and the line to draw: through them, or where a fit says that they should lie."""

    name: str
    points: Points
    line: Points = ()


@dataclass(frozen=True)
class Curves:
    description: str
    curves: Sequence[Curve]
    along: str
    """What the x axis shows, in words."""
    say_x: Callable[[float], str] | None = None
    """How to write a place on it; shares, like those along the y axis, where nothing is said."""
    note: str = ""
    """What to know when looking at them, such as why there is no curve; written below what the x axis shows."""

    @property
    def legend(self) -> list[tuple[str, str]]:
        return [(curve.name, f"s{n}") for n, curve in enumerate(self.curves[:SERIES])]

    def html(self) -> Html:
        return join(legend(self.legend), both(self.drawing))

    def drawing(self, width: int) -> Html:
        """The chart without its legend, for those that share one."""
        height = 280 if width == WIDE else 240
        return tag(
            "svg",
            self.parts(width, height),
            viewBox=f"0 0 {width} {height + 18 + LINE * len(self._note_lines(width))}",
            role="img",
            aria_label=self.description,
            cls=f"chart {'wide' if width == WIDE else 'narrow'}",
        )

    def parts(self, width: float, height: float) -> list[Html]:
        """The drawing without a frame around it; what the axis shows is written below the height."""
        frame = Frame(int(width), int(height), left=48)
        shown = self.curves[:SERIES]
        every = [point for curve in shown for point in (*curve.points, *curve.line)]
        step, steps = round_steps(max((y for _, y in every), default=0))
        places = axis_places([x for x, _ in every], most=max(2, int(width / 90)))
        at = frame.scale_x(places[0], places[-1])

        def up(y: float) -> float:
            return frame.y(max(y, 0) / (step * steps))

        apart = places[1] - places[0]
        mark_x, say_x = (self.say_x or words.percentages(size) for size in (apart, apart / 10))
        mark_y, say_y = (words.percentages(size) for size in (step, step / 10))
        drawn = [*frame.grid(step, steps, mark_y)]
        for n, place in enumerate(places):
            end = "start" if n == 0 else "end" if n == len(places) - 1 else "middle"
            drawn.append(tag("text", mark_x(place), x=f"{at(place):.1f}", y=frame.bottom + 20, text_anchor=end))
        middle = (frame.left + frame.right) / 2
        drawn.append(tag("text", self.along, x=f"{middle:.1f}", y=frame.bottom + 38, text_anchor="middle"))
        drawn += [
            tag("text", line, x=frame.left, y=frame.bottom + 38 + LINE * n)
            for n, line in enumerate(self._note_lines(width), start=1)
        ]
        for n, curve in enumerate(shown):
            path = "L".join(f"{at(x):.1f} {up(y):.1f}" for x, y in curve.line)
            drawn += [tag("path", d=f"M{path}", cls=f"line s{n}")] if path else []
            drawn += [
                tag(
                    "circle",
                    tag("title", f"{curve.name}\n{self.along} {say_x(x)}: {say_y(y)}"),
                    cx=f"{at(x):.1f}",
                    cy=f"{up(y):.1f}",
                    r="3.5",
                    cls=f"f{n}",
                )
                for x, y in curve.points
            ]
        return drawn

    def lines_below(self, width: float) -> int:
        return 2 + len(self._note_lines(width))

    def _note_lines(self, width: float) -> list[str]:
        return textwrap.wrap(self.note, int((width - 56) / CHARACTER))

    def fits(self, width: float) -> bool:
        return True


def axis_places(values: Sequence[float], *, most: int) -> list[float]:
    """Where to write what along the x axis: from 0, or from just below where all values are far from it."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    low = low if low > high / 2 else 0.0
    step, _ = round_steps(high - low or high)
    while (last := math.ceil(high / step - 1e-9)) - (first := math.floor(low / step + 1e-9)) > most:
        step *= 2
    return [step * n for n in range(first, max(last, first + 1) + 1)]
