"""Bars and lines on paper: axes with titles, intervals, and what was published as diamonds.

Colours are those of Okabe and Ito, which most colour-blind readers can tell apart; every series also has a dash or
a place of its own. Everything is an attribute of its element, so that editors and converters that know no style
sheets draw the same.
"""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trajlab.figures._ticks import along, part_of
from trajlab.report import words
from trajlab.report.drawing.charts import round_steps
from trajlab.report.markup import Attribute, Child, Html, tag
from trajlab.version import __version__

if TYPE_CHECKING:
    from trajlab.figures._figure import Drawn, Figure, Published

WIDTH, HEIGHT = 640, 400
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#6a6a6a", "#000000")
_DASHES = (None, "7 4", "2 3", "9 3 2 3")
_INK, _SOFT, _HAIR = "#1a1a1a", "#4d4d4d", "#dddddd"
_FONT = "Liberation Sans, Arial, Helvetica, DejaVu Sans, sans-serif"
_LETTER = 6.4
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 16, 44, 56

Row = dict[str, Any]


def svg(drawn: Drawn) -> str:
    figure = drawn.figure
    rows = drawn.answer.to_dicts()
    series = list(dict.fromkeys(str(row["series"]) for row in rows))
    data_sets = list(dict.fromkeys(mark.data_set for mark in figure.published))
    frame = _Frame.around(drawn, rows)
    chosen = {"release_id": drawn.release_id, **figure.rows}
    parts: list[Child] = [
        frame.axes(),
        _bars(frame, rows, series) if figure.kind == "bars" else _lines(frame, rows, series),
    ]
    parts += [
        _diamond(*frame.at(mark.x, mark.value), data_sets.index(mark.data_set), mark)
        for mark in figure.published
        if frame.holds(mark)
    ]
    keys, below = _legend(series, data_sets, figure)
    parts.append(_shifted(0, HEIGHT + 4, keys))
    note = [*textwrap.wrap(_note(drawn), 104)]
    lines = [_text(line, 16, HEIGHT + below + 22 + 15 * n, size=11, fill=_SOFT) for n, line in enumerate(note)]
    height = HEIGHT + below + 22 + 15 * len(note)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tag(
        "svg",
        tag("title", f"{figure.name}: {figure.title}"),
        tag("desc", f"{figure.relation}: " + ", ".join(f"{name} {value}" for name, value in chosen.items())),
        tag("rect", width=WIDTH, height=height, fill="#ffffff"),
        _text(figure.title, 16, 24, size=15, weight="bold"),
        parts,
        lines,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {height}",
        width=WIDTH,
        height=height,
        font_family=_FONT,
    )


@dataclass(frozen=True)
class _Frame:
    """Where values lie on the paper."""

    drawn: Drawn
    places: tuple[float | str, ...]
    """What x takes, in order: categories of bars, or the numbers of lines."""
    ticks: tuple[tuple[float, str], ...]
    """Where numbers are written along the x axis of lines, and how."""
    ends: tuple[float, float]
    top: float
    step: float
    bottom: float

    @classmethod
    def around(cls, drawn: Drawn, rows: list[Row]) -> _Frame:
        figure = drawn.figure
        places = list(dict.fromkeys(row["x"] for row in rows))
        if not isinstance(places[0], str):
            places = sorted({*places, *(mark.x for mark in figure.published)})
        values = [row["high"] if row["high"] is not None else row["estimate"] for row in rows]
        values += [mark.value for mark in figure.published]
        highest = max((value for value in values if value is not None), default=1.0)
        step, steps = (0.2, 5) if figure.shares and 0.6 < highest <= 1 else round_steps(highest)
        lowest = min((row["estimate"] for row in rows if row["estimate"]), default=0.01)
        ticks, ends = ((), (0.0, 1.0)) if figure.kind == "bars" else along([float(place) for place in places], figure)
        return cls(drawn, tuple(places), ticks, ends, step * steps, step, 10.0 ** math.floor(math.log10(lowest)))

    def holds(self, mark: Published) -> bool:
        return not isinstance(mark.x, str) or mark.x in self.places

    def at(self, x: float | str, value: float) -> tuple[float, float]:
        return self.x(x), self.y(value)

    @property
    def pitch(self) -> float:
        return (WIDTH - _LEFT - _RIGHT) / max(len(self.places), 1)

    def x(self, place: float | str) -> float:
        if self.drawn.figure.kind == "bars":
            return _LEFT + (self.places.index(place) + 0.5) * self.pitch
        return _LEFT + 8 + part_of(self.ends, float(place), log=self.drawn.figure.log_x) * (WIDTH - _LEFT - _RIGHT - 16)

    def y(self, value: float) -> float:
        part = value / self.top
        if self.drawn.figure.log_y:
            part = math.log10(max(value, self.bottom) / self.bottom) / math.log10(self._ceiling / self.bottom)
        return HEIGHT - _BOTTOM - part * (HEIGHT - _BOTTOM - _TOP)

    @property
    def _ceiling(self) -> float:
        return 10.0 ** math.ceil(math.log10(self.top))

    def axes(self) -> Child:
        figure = self.drawn.figure
        drawn: list[Child] = []
        for n, value in enumerate(self._rungs()):
            y = self.y(value)
            rung = f"{words.number(100 * value)}%" if figure.shares else words.number(value)
            drawn.append(_line(f"M{_LEFT} {y:.1f}H{WIDTH - _RIGHT}", stroke=_HAIR if n else _SOFT))
            drawn.append(_text(rung, _LEFT - 8, y + 4, anchor="end", fill=_SOFT))
        for x, label in self._labels():
            drawn += [
                _text(line, x, HEIGHT - _BOTTOM + 18 + 13 * n, anchor="middle", fill=_SOFT)
                for n, line in enumerate(label)
            ]
        middle = (_TOP + HEIGHT - _BOTTOM) / 2
        drawn.append(_text(figure.x, (_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 8, anchor="middle"))
        drawn.append(
            tag("g", _text(figure.y, 0, 0, anchor="middle"), transform=f"translate(16 {middle:.0f}) rotate(-90)")
        )
        return drawn

    def _rungs(self) -> list[float]:
        if not self.drawn.figure.log_y:
            return [self.step * n for n in range(round(self.top / self.step) + 1)]
        low, high = round(math.log10(self.bottom)), round(math.log10(self._ceiling))
        return [10.0**power for power in range(low, high + 1)]

    def _labels(self) -> list[tuple[float, list[str]]]:
        if self.drawn.figure.kind == "lines":
            return [(self.x(tick), [said]) for tick, said in self.ticks]
        room = max(4, int(self.pitch / _LETTER))
        return [
            (self.x(p), textwrap.wrap(p if isinstance(p, str) else words.number(p), room)[:2] or [""])
            for p in self.places
        ]


def _bars(frame: _Frame, rows: list[Row], series: list[str]) -> Child:
    drawn: list[Child] = []
    share = min(frame.pitch * 0.84, 70.0 * len(series)) / len(series)
    for row in rows:
        n = series.index(str(row["series"]))
        middle = frame.x(row["x"]) + (n - (len(series) - 1) / 2) * share
        top, floor = frame.y(row["estimate"]), frame.y(frame.bottom if frame.drawn.figure.log_y else 0)
        box: dict[str, Attribute] = {"x": f"{middle - share * 0.43:.1f}", "width": f"{share * 0.86:.1f}"}
        drawn.append(tag("rect", **box, y=f"{top:.1f}", height=f"{floor - top:.1f}", fill=COLOURS[n % len(COLOURS)]))
        drawn.append(_whisker(frame, row, middle))
    return drawn


def _lines(frame: _Frame, rows: list[Row], series: list[str]) -> Child:
    drawn: list[Child] = []
    looks = _looks(series, frame.drawn.figure.curve)
    for n, name in enumerate(series):
        own = [row for row in rows if str(row["series"]) == name and row["estimate"] is not None]
        points = [frame.at(row["x"], row["estimate"]) for row in own]
        look = looks[n]
        colour = look.colour
        if look.line:
            path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
            drawn.append(_line(path, stroke=colour, width=2, dash=look.dash))
        if look.dots and (len(own) <= 24 or not look.line):
            drawn += [tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=3, fill=colour) for x, y in points]
            drawn += [_whisker(frame, row, frame.x(row["x"])) for row in own]
    return drawn


def _whisker(frame: _Frame, row: Row, x: float) -> Html | None:
    if row["low"] is None or row["high"] is None:
        return None
    return _line(f"M{x:.1f} {frame.y(row['low']):.1f}V{frame.y(row['high']):.1f}", stroke=_INK, width=1.2)


def _diamond(x: float, y: float, n: int, mark: Published | None = None) -> Html:
    """What was published: filled for the paper's first data set, hollow, then half dark for others."""
    fill = (_INK, "#ffffff", "#9a9a9a", "#ffd75e", "#cfe8ff")[n % 5]
    hover = None if mark is None else tag("title", f"published, {mark.data_set}: {words.number(mark.value)}")
    return tag("path", hover, d=f"M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z", fill=fill, stroke=_INK, stroke_width=1.4)


@dataclass(frozen=True)
class _Look:
    """How a series is drawn: joined points, points alone, or a curve alone in the colour of what it was fitted to."""

    colour: str
    dash: str | None
    line: bool = True
    dots: bool = True


def _looks(series: list[str], curve: str) -> list[_Look]:
    if not curve:
        return [_Look(COLOURS[n % len(COLOURS)], _DASHES[n % len(_DASHES)]) for n in range(len(series))]
    of = [name.partition(curve)[0] for name in series]
    kinds = list(dict.fromkeys(of))
    return [
        _Look(COLOURS[kinds.index(base) % len(COLOURS)], _DASHES[kinds.index(base) % len(_DASHES)], fits, not fits)
        for base, fits in zip(of, (curve in name for name in series), strict=True)
    ]


def _legend(series: list[str], data_sets: list[str], figure: Figure) -> tuple[list[Child], int]:
    """Names of the series, then of what was published, in lines; and how tall that is."""
    drawn: list[Child] = []
    x, y, looks = 16.0, 10, _looks(series, figure.curve)
    for n, name in enumerate([*series, *(f"published, {each}" for each in data_sets)]):
        size = 34 + _LETTER * len(name)
        if x + size > WIDTH - _RIGHT and x > 16:
            x, y = 16.0, y + 18
        if n >= len(series):
            chip: Html = _diamond(x + 8, y - 4, n - len(series))
        elif figure.kind == "bars":
            chip = tag("rect", x=f"{x:.1f}", y=y - 10, width=12, height=12, fill=looks[n].colour)
        elif not looks[n].line:
            chip = tag("circle", cx=f"{x + 9:.1f}", cy=y - 4, r=3, fill=looks[n].colour)
        else:
            chip = _line(f"M{x:.1f} {y - 4}h18", stroke=looks[n].colour, width=2, dash=looks[n].dash)
        drawn += [chip, _text(name, x + 23, y)]
        x += size
    return drawn, y + 4


def _note(drawn: Drawn) -> str:
    within = " Thin lines are 95% intervals." if drawn.answer["low"].is_not_null().any() else ""
    note = f" {drawn.figure.note}" if drawn.figure.note else ""
    measured = f"measured on release {drawn.release_id}, n = {words.people(drawn.people)}"
    return f"{drawn.figure.name}, {measured}.{within}{note} trajlab {__version__}."


def _shifted(x: float, y: float, inside: Child) -> Html:
    return tag("g", inside, transform=f"translate({x} {y})")


def _line(path: str, *, stroke: str, width: float = 1, dash: str | None = None) -> Html:
    return tag("path", d=path, fill="none", stroke=stroke, stroke_width=width, stroke_dasharray=dash)


def _text(
    text: str,
    x: float,
    y: float,
    *,
    size: int = 12,
    anchor: str | None = None,
    fill: str = _INK,
    weight: str | None = None,
) -> Html:
    where = {"x": f"{x:.1f}", "y": f"{y:.1f}"}
    return tag("text", text, **where, font_size=size, text_anchor=anchor, fill=fill, font_weight=weight)
