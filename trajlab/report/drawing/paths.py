"""Two paths of one day: where somebody was and where an attack puts them, on a map and along the clock.

The map is in metres with a scale bar and no background. Below it a band has one field for each slot:
filled where both are in the same cell. Drawn at two widths, like every chart.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from trajlab.report import words
from trajlab.report.drawing.charts import WIDE, both, legend
from trajlab.report.markup import Html, join, tag

Metres = npt.NDArray[np.float64]
_MARGIN = 26
_TALLEST = 320
_BAR = 34
"""Room for the scale bar."""
_BAND = 74
"""Room for the band of slots and its clock."""


def draw(
    description: str,
    starts: Sequence[dt.datetime],
    true: Metres,
    recovered: Metres,
    hits: Sequence[bool],
    titles: Sequence[str],
) -> Html:
    """Both paths slot by slot; without coordinates the band alone."""
    placed = bool(np.isfinite(np.concatenate([true, recovered])).all())

    def sized(width: int) -> Html:
        parts, height = _map(true, recovered, width, titles) if placed else ([], 0)
        parts += _band(starts, hits, titles, width, height)
        shape = "wide" if width == WIDE else "narrow"
        return tag(
            "svg",
            parts,
            viewBox=f"0 0 {width} {height + _BAND}",
            role="img",
            aria_label=description,
            cls=f"chart {shape}",
        )

    entries = [("where the person was", "s0"), ("where the attack says", "s1")] if placed else []
    return join(legend([*entries, ("right cell", "hit"), ("wrong cell", "miss")]), both(sized))


def _map(true: Metres, recovered: Metres, width: int, titles: Sequence[str]) -> tuple[list[Html], int]:
    """Both paths and a scale bar, and how tall that is: as tall as the paths are, within limits."""
    every = np.concatenate([true, recovered])
    low, high = every.min(axis=0), every.max(axis=0)
    size = np.maximum(high - low, max((high - low).max() / 8, 1.0))
    inner = width - 2 * _MARGIN
    scale = float(min(inner / size[0], (_TALLEST if width == WIDE else inner) / size[1]))
    height = round(size[1] * scale) + 2 * _MARGIN + _BAR
    middle = (low + high) / 2

    def pixels(points: Metres, shift: float) -> Metres:
        centre = np.array([width / 2 + shift, (height - _BAR) / 2 + shift])
        placed: Metres = centre + (points - middle) * np.array([scale, -scale])
        return placed

    drawn = []
    for n, points in enumerate((pixels(true, -1.5), pixels(recovered, 1.5))):
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points.tolist())
        drawn.append(tag("path", d=f"M{path}", cls=f"line s{n}{' dashed' if n else ''}"))
    for n, points in enumerate((pixels(true, -1.5), pixels(recovered, 1.5))):
        for (x, y), at in _stops(points, titles):
            drawn.append(tag("circle", tag("title", at), cx=f"{x:.1f}", cy=f"{y:.1f}", r=5 - n, cls=f"stop f{n}"))
    return [*drawn, *_scale(scale, width, height)], height


def _stops(points: Metres, titles: Sequence[str]) -> list[tuple[tuple[float, float], str]]:
    """Each place once, with what is to be said of the first slots there."""
    there: dict[tuple[float, float], list[str]] = {}
    for (x, y), title in zip(np.round(points, 1).tolist(), titles, strict=True):
        there.setdefault((x, y), []).append(title)
    return [
        (place, "\n".join([shown[0], f"and in {words.count(len(shown) - 1, 'other slot')}"] if shown[1:] else shown))
        for place, shown in there.items()
    ]


def _scale(scale: float, width: int, height: int) -> list[Html]:
    most = width / scale / 4
    size = 10.0 ** math.floor(math.log10(most))
    length = max(step * size for step in (1, 2, 5) if step * size <= most)
    right, y = _MARGIN + length * scale, height - 18
    return [
        tag("path", d=f"M{_MARGIN} {y - 5}v5H{right:.1f}v-5", cls="scale-line"),
        tag("text", words.metres(length), x=f"{(_MARGIN + right) / 2:.1f}", y=y - 9, text_anchor="middle"),
    ]


def _band(
    starts: Sequence[dt.datetime], hits: Sequence[bool], titles: Sequence[str], width: int, top: int
) -> list[Html]:
    pitch = (width - 2) / max(len(starts), 1)
    every = max(1, math.ceil(len(starts) * 56 / width))
    drawn = []
    for n, (when, hit, title) in enumerate(zip(starts, hits, titles, strict=True)):
        box = {"x": f"{1 + n * pitch:.1f}", "y": f"{top + 12}", "width": f"{max(pitch - 1.5, 0.8):.1f}"}
        drawn.append(tag("rect", tag("title", title), **box, height=26, rx=2, cls="hit" if hit else "miss"))
        if n % every == 0:
            drawn.append(tag("text", f"{when:%H:%M}", x=f"{1 + n * pitch:.1f}", y=top + 58))
    return drawn
