"""Several charts on one sheet: an SVG file that needs nothing around it, no style sheet of a page and no browser.

Editors and converters know no variables of style sheets and draw black where they meet one, so the colours of the
page, those for light surroundings, are written out.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Protocol

from trajlab.report.drawing.bars import CHARACTER, LINE, mark
from trajlab.report.drawing.charts import WIDE
from trajlab.report.markup import Html, tag
from trajlab.report.page import style

_FONT = "system-ui, Segoe UI, Roboto, Noto Sans, Liberation Sans, Arial, sans-serif"
_MARGIN, _GAP, _TALL = 24, 28, 250

Row = tuple[str, Sequence[tuple[str, "Chart"]]]


class Chart(Protocol):
    """What a sheet can hold: bars in groups, or curves."""

    @property
    def description(self) -> str: ...

    @property
    def legend(self) -> list[tuple[str, str]]: ...

    def parts(self, width: float, height: float) -> list[Html]: ...

    def lines_below(self, width: float) -> int: ...

    def fits(self, width: float) -> bool: ...


def sheet(title: str, rows: Sequence[Row], note: str) -> str:
    """Charts in rows under one title, as the text of an SVG file; the name of several rows is written once."""
    y, drawn, named = 34.0, [tag("text", title, x=_MARGIN, y=34, cls="title")], ""
    for name, charts in _roomy(rows):
        if name and name != named:
            y += 34
            drawn.append(tag("text", name, x=_MARGIN, y=f"{y:.0f}", cls="strong"))
        named = name
        wide = _width(len(charts))
        heads = max(len(_legend_lines(chart.legend, wide)) for _, chart in charts)
        below = max(chart.lines_below(wide) for _, chart in charts)
        for n, (caption, chart) in enumerate(charts):
            x = _MARGIN + n * (wide + _GAP)
            drawn.append(tag("text", caption, x=f"{x:.1f}", y=f"{y + 30:.0f}", cls="group-name"))
            drawn.append(tag("g", _legend_drawn(chart.legend, wide), transform=f"translate({x:.1f} {y + 52:.0f})"))
            inner = tag("title", chart.description), chart.parts(wide, _TALL)
            drawn.append(tag("g", *inner, transform=f"translate({x:.1f} {y + 46 + 22 * heads:.0f})"))
        y += 46 + 22 * heads + _TALL + LINE * (below - 1)
    for line in textwrap.wrap(note, 138):
        y += LINE + 1
        drawn.append(tag("text", line, x=_MARGIN, y=f"{y + 10:.0f}"))
    height = round(y + 30)
    return tag(
        "svg",
        tag("title", title),
        tag("style", _literal_style()),
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


def _roomy(rows: Sequence[Row]) -> Iterator[Row]:
    """The rows, with charts below each other that have too many names to stand side by side."""
    for name, charts in rows:
        if all(chart.fits(_width(len(charts))) for _, chart in charts):
            yield name, charts
        else:
            yield from ((name, [chart]) for chart in charts)


def _width(charts: int) -> float:
    return (WIDE - 2 * _MARGIN - _GAP * (charts - 1)) / charts


def _legend_lines(entries: Sequence[tuple[str, str]], width: float) -> list[list[tuple[str, str]]]:
    lines: list[list[tuple[str, str]]] = [[]]
    used = 0.0
    for entry in entries:
        size = 40 + CHARACTER * len(entry[0])
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
                chip = mark(int(kind[1:]), x + 6, 22 * n - 4, 10)
            drawn += [chip, tag("text", name, x=f"{x + 19:.0f}", y=22 * n, cls="group-name")]
            x += 40 + CHARACTER * len(name)
    return drawn


def _literal_style() -> Html:
    """The style of charts with colours in place of variables, and without what only answers to a pointer."""
    light, _, _ = style("colours").partition("@media")
    colours = dict(re.findall(r"--(\w+): (#\w+)", light))
    sheet = re.sub(r"var\(--(\w+)\)", lambda used: colours[used[1]], style("charts"))
    return Html("".join(line for line in sheet.splitlines(keepends=True) if ":hover" not in line))
