"""Points with names: two numbers of each thing, and what it is written beside it where there is room.

Names are placed one after another, right, left, above or below their point, wherever no other name or point is in the
way; one that fits nowhere is told by the pointer, and in the table of the page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trajlab.report import words
from trajlab.report.drawing.bars import LINE
from trajlab.report.drawing.charts import SERIES, WIDE, Frame, both, legend, round_steps
from trajlab.report.drawing.curves import axis_places
from trajlab.report.markup import Html, join, tag

LETTER = 6.6
"""Width of a letter of a name; a little less than on the safe side, since names may come close."""
_EXTRA = 14
"""Lines by which it is taller than other charts of a sheet."""
_RADIUS = 5.0


@dataclass(frozen=True)
class Point:
    """A thing: where it is, its interval upwards, what it is called, and which of the series it belongs to."""

    x: float
    y: float
    name: str
    series: str
    low: float | None = None
    high: float | None = None
    chosen: bool = False
    """Whether it is on the line of those that nothing beats in both."""


@dataclass(frozen=True)
class Scatter:
    description: str
    points: Sequence[Point]
    along: str
    upwards: str

    @property
    def series(self) -> list[str]:
        return list(dict.fromkeys(point.series for point in self.points))

    @property
    def legend(self) -> list[tuple[str, str]]:
        return [(name, f"s{n % SERIES}") for n, name in enumerate(self.series)]

    def html(self) -> Html:
        return join(legend(self.legend), both(self.drawing))

    def drawing(self, width: int) -> Html:
        height = 250 if width == WIDE else 220
        full = height + LINE * (1 + _EXTRA)
        shape = "wide" if width == WIDE else "narrow"
        parts = self.parts(width, height)
        view = f"0 0 {width} {full}"
        return tag("svg", parts, viewBox=view, role="img", aria_label=self.description, cls=f"chart {shape}")

    def parts(self, width: float, height: float) -> list[Html]:
        """The drawing without a frame around it; it reaches below the height, as `lines_below` says."""
        frame = Frame(int(width), int(height) + LINE * (_EXTRA - 1), left=56)
        frame.top += LINE
        high = max((point.high or point.y for point in self.points), default=0)
        step, steps = round_steps(high)
        places = axis_places([0.0, *(point.x for point in self.points)], most=max(2, int(width / 90)))
        at = frame.scale_x(places[0], places[-1])

        def up(y: float) -> float:
            return frame.y(max(y, 0) / (step * steps))

        mark_x = words.percentages(places[1] - places[0])
        drawn = [*frame.grid(step, steps, words.percentages(step)), tag("text", self.upwards, x=0, y=12)]
        for n, place in enumerate(places):
            end = "start" if n == 0 else "end" if n == len(places) - 1 else "middle"
            drawn.append(tag("text", mark_x(place), x=f"{at(place):.1f}", y=frame.bottom + 20, text_anchor=end))
        middle = (frame.left + frame.right) / 2
        drawn.append(tag("text", self.along, x=f"{middle:.1f}", y=frame.bottom + 40, text_anchor="middle"))
        drawn += self._line(at, up)
        drawn += [self._mark(point, at(point.x), up(point.y), up) for point in self.points]
        return [*drawn, *self._names(frame, at, up)]

    def _line(self, at: Callable[[float], float], up: Callable[[float], float]) -> list[Html]:
        chosen = sorted({(point.x, point.y) for point in self.points if point.chosen})
        path = "L".join(f"{at(x):.1f} {up(y):.1f}" for x, y in chosen)
        return [tag("path", d=f"M{path}", cls="scale-line dashed")] if len(chosen) > 1 else []

    def _mark(self, point: Point, x: float, y: float, up: Callable[[float], float]) -> Html:
        both_axes = f"{self.upwards}: {words.share(point.y)}\n{self.along}: {words.share(point.x)}"
        told = f"{point.series}, {point.name}\n{both_axes}"
        parts = []
        if point.low is not None and point.high is not None:
            parts.append(tag("path", d=f"M{x:.1f} {up(point.low):.1f}V{up(point.high):.1f}", cls="whisker"))
        number = self.series.index(point.series) % SERIES
        parts.append(tag("circle", tag("title", told), cx=f"{x:.1f}", cy=f"{y:.1f}", r=_RADIUS, cls=f"f{number}"))
        return tag("g", parts)

    def _names(self, frame: Frame, at: Callable[[float], float], up: Callable[[float], float]) -> list[Html]:
        taken = [_around(at(point.x), up(point.y), _RADIUS + 1) for point in self.points]
        drawn = []
        for point in sorted(self.points, key=lambda point: (not point.chosen, point.x, point.y)):
            wide = LETTER * len(point.name)
            x, y = at(point.x), up(point.y)
            for left, base, end in _seats(x, y, wide):
                box = (left, base - 11, left + wide, base + 3)
                inside = frame.left <= box[0] and box[2] <= frame.right and box[1] >= 0 and box[3] <= frame.bottom
                own = _around(x, y, _RADIUS + 1)
                if inside and not any(_overlap(box, other) for other in taken if other != own):
                    taken.append(box)
                    place = {"start": left, "end": left + wide, "middle": left + wide / 2}[end]
                    seat = {"x": f"{place:.1f}", "y": f"{base:.1f}", "text_anchor": end}
                    drawn.append(tag("text", point.name, **seat, cls="group-name" if point.chosen else ""))
                    break
        return drawn

    def lines_below(self, width: float) -> int:
        return 2 + _EXTRA

    def fits(self, width: float) -> bool:
        return True


Rectangle = tuple[float, float, float, float]


def _seats(x: float, y: float, wide: float) -> list[tuple[float, float, str]]:
    """Where a name may stand: its left end, its base line and how it is anchored."""
    far, near = _RADIUS + 5, _RADIUS + 2
    beside = [(x + far, y + 4 + shift, "start") for shift in (0, -14, 14)]
    other = [(x - far - wide, y + 4 + shift, "end") for shift in (0, -14, 14)]
    upright = [(x - wide / 2, y - near - 4, "middle"), (x - wide / 2, y + near + 12, "middle")]
    return [*beside, *other, *upright]


def _around(x: float, y: float, radius: float) -> Rectangle:
    return (x - radius, y - radius, x + radius, y + radius)


def _overlap(one: Rectangle, other: Rectangle) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
