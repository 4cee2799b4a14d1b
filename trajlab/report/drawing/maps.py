"""Cells on a map: outlines in, coloured by class, over land, water and names, with a scale bar.

Drawn in an equal-area projection, in fractions of a pixel, so that one can zoom in. What is drawn is SVG, which
prints and needs no script; `map.js` takes it over where it may run. Up to `MOST_TITLED` cells of the maps on a page
each say their values when pointed at; beyond that the cells of a class are one shape. Cells that nobody could tell
apart are merged (`merging`), and the map says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely

from trajlab.report import words
from trajlab.report.drawing.backdrop import Backdrop
from trajlab.report.drawing.charts import legend
from trajlab.report.drawing.extent import PIXEL, Extent, project
from trajlab.report.drawing.merging import Squares, merge
from trajlab.report.drawing.outlines import POINT, write_paths
from trajlab.report.markup import Html, tag, text

MOST_TITLED = 12_000
CLASSES = 7
_TALLEST = 34
_MOST_DRAWN = 24_000
_SMALLEST = 2.5 * PIXEL
"""Cells that are smaller are merged."""
_FINE = 6 * PIXEL
"""Cells that are smaller have no line around them: it would cover them."""

Floats = npt.NDArray[np.float64]
Shapes = npt.NDArray[np.object_]


@dataclass(frozen=True)
class Hours:
    """Values of each cell at hours of the day: one column an hour."""

    hours: Sequence[int]
    values: Floats


def draw(
    description: str,
    shapes: Shapes,
    values: Floats,
    titles: Sequence[str],
    backdrop: Backdrop,
    unit: str,
    *,
    titled: int = MOST_TITLED,
    hours: Hours | None = None,
) -> Html | None:
    """A map of the cells that have an outline (in degrees); None where none has.

    Cells outside the extent of the backdrop are left out, and the map says how many. `titled` is how many cells may
    have a title of their own, where a page has several maps; titles of more than that need not be given. With
    `hours` the reader can choose an hour, where cells are titled.
    """
    extent = backdrop.extent
    flat, drawable = project(shapes, extent.plane)
    if not drawable.any():
        return None
    one_by_one = len(titles) == len(drawable) <= titled
    titles = [title for title, known in zip(titles, drawable, strict=True) if known] if one_by_one else []
    flat, values = flat[drawable], values[drawable]
    bounds = shapely.bounds(flat)
    centres = extent.paper((bounds[:, :2] + bounds[:, 2:]) / 2)
    inside = np.asarray(((centres >= 0) & (centres <= extent.size)).all(axis=1))
    sizes = (bounds[:, 2:] - bounds[:, :2]).max(axis=1) * extent.scale
    sizes = np.where(sizes > 0, sizes, 2 * POINT)
    alone, squares = merge(centres, sizes, values, inside, max(_MOST_DRAWN, 4 * titled), smallest=round(_SMALLEST))
    own = np.flatnonzero(alone)
    shown = np.concatenate([values[own], squares.mean])
    breaks = quantile_breaks(shown)
    classes = np.searchsorted(breaks[1:-1], shown, side="right")
    spread = _colours(len(breaks) - 1)
    outlined = write_paths(shapely.transform(flat[own], extent.paper))
    named = [titles[i] for i in own] + _names(squares, titles) if one_by_one else []
    each = outlined + squares.paths() if one_by_one else []
    by_hour = _by_hour(hours.values[drawable], own, squares) if hours is not None and one_by_one else [None] * len(each)
    groups = []
    for k in range(len(breaks) - 1):
        members = np.flatnonzero(classes == k)
        shapes_of_class = (
            [tag("path", tag("title", named[i]), d=each[i], data_h=by_hour[i]) for i in members]
            if one_by_one
            else tag(
                "path",
                d="".join(outlined[i] for i in members[members < len(own)])
                + squares.rows_of(members[members >= len(own)] - len(own)),
            )
        )
        groups.append(tag("g", shapes_of_class, cls=f"q{spread[k]}"))
    size = float(np.median(np.append(sizes[own], np.full(len(squares.cells), squares.side))))
    noun = "cell" if not len(squares.cells) else "square" if not len(own) else "shape"
    width, height = extent.size
    svg = tag(
        "svg",
        tag("use", href="#ground"),
        tag("g", groups, cls="cells"),
        tag("use", href="#names"),
        viewBox=f"0 0 {width} {height}",
        role="img",
        aria_label=description,
        cls="map fine" if size < _FINE else "map",
        data_scale=f"{extent.scale:.6g}",
        data_breaks=" ".join(f"{value:.6g}" for value in breaks),
        data_hours=" ".join(map(str, hours.hours)) if hours is not None and one_by_one else None,
        data_size=round(size),
        data_noun=noun,
    )
    return tag(
        "div",
        sheet(svg, extent),
        tag(
            "div",
            _legend(breaks, np.bincount(classes, minlength=len(breaks) - 1), spread, unit, noun),
            tag("p", text(backdrop.ground.source), cls="note credit") if backdrop.ground.source else None,
            cls="key",
        ),
        _left_out(int((~inside).sum())),
        _merged(squares, int(inside.sum()), extent.scale),
        cls="atlas",
    )


def sheet(svg: Html, extent: Extent) -> Html:
    """A map as large as its column, no taller than a screen, with its scale bar."""
    width, height = extent.size
    fits = f"max-width:{_TALLEST * width / height:.1f}rem"
    return tag("div", tag("div", svg, scale_bar(extent.scale, width), style=fits), cls="sheet")


def _by_hour(values: Floats, own: npt.NDArray[np.int64], squares: Squares) -> list[str | None]:
    """Values of each drawn shape at each hour, as text: three digits are more than a colour shows."""
    merged = np.zeros((len(squares.cells), values.shape[1]))
    np.add.at(merged, squares.square, values[squares.member])
    every = np.concatenate([values[own], merged / np.maximum(squares.cells, 1)[:, None]])
    return [" ".join(f"{value:.3g}" for value in row) for row in every.tolist()]


def name_cell(label: str, near: str | None) -> str:
    """What a cell is called, and the place it lies near where that says more."""
    own = words.short(label)
    return own if near is None or near in own else f"{own}, near {words.short(near, 40)}"


def _names(squares: Squares, titles: Sequence[str]) -> list[str]:
    return [
        titles[first] if cells == 1 else f"{words.count(cells, 'cell')}\n{words.number(mean)} on average"
        for first, cells, mean in zip(
            squares.first.tolist(), squares.cells.tolist(), squares.mean.tolist(), strict=True
        )
    ]


def quantile_breaks(values: Floats) -> Floats:
    """Ends of at most seven classes with about as many cells each; ties stay in one class."""
    breaks = np.unique(np.quantile(values, np.linspace(0, 1, CLASSES + 1), method="lower"))
    return breaks if len(breaks) > 1 else np.append(breaks, breaks)


def scale_bar(scale: float, width: int) -> Html:
    """A round length of about a sixth of the map."""
    most = width / scale / 3
    size = 10.0 ** math.floor(math.log10(most))
    length = max(step * size for step in (1, 2, 5) if step * size <= most)
    return tag("div", words.metres(length), cls="scale", style=f"width:{100 * length * scale / width:.2f}%")


def _legend(breaks: Floats, cells: npt.NDArray[Any], spread: list[int], unit: str, noun: str) -> Html:
    entries = [
        (f"{words.number(low, 2)} – {words.number(high, 2)} ({words.count(n, noun)})", f"q{spread[k]}")
        for k, (low, high, n) in enumerate(zip(breaks, breaks[1:], cells.tolist(), strict=False))
    ]
    return tag("div", tag("p", unit, cls="note"), legend(entries))


def _colours(classes: int) -> list[int]:
    """The colours of fewer classes, spread over the whole range."""
    return [round(k * (CLASSES - 1) / max(classes - 1, 1)) for k in range(classes)] if classes > 1 else [CLASSES // 2]


def _left_out(cells: int) -> Html | None:
    if not cells:
        return None
    return tag(
        "p", text(f"{words.count(cells, 'cell')} far outside this view not drawn; the table has them."), cls="note"
    )


def _merged(squares: Squares, inside: int, scale: float) -> Html | None:
    cells = int(squares.cells.sum())
    if not cells:
        return None
    which = f"{words.count(cells, 'cell')} too small to be told apart"
    if cells < inside:
        which = f"Of {words.count(inside, 'cell')}, {which[0].lower()}{which[1:]}"
    size = words.metres(float(f"{squares.side / scale:.2g}"))
    drawn = f"drawn as {words.count(len(squares.cells), 'square')} of {size}, each with the mean of its cells"
    return tag("p", text(f"{which}, {drawn}; the table has them."), cls="note")
