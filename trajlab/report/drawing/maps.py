"""Cells on a map without a background: outlines in, coloured by class, with a scale bar.

Drawn in an equal-area projection, in whole tenths of a pixel, so that ten thousand cells
stay light. Up to `MOST_TITLED` cells of the maps on a page each say their values when pointed
at; beyond that the cells of a class are one shape. Cells that nobody could tell apart are
merged (`merging`), and the map says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely

from trajlab.report import words
from trajlab.report.drawing.charts import legend
from trajlab.report.drawing.merging import Squares, merge
from trajlab.report.markup import Html, tag, text
from trajlab.spatial._projection import LocalMetres

MOST_TITLED = 12_000
CLASSES = 7
WIDTH, HEIGHT = 10_000, 6_400
_CORE = 0.97
_TALLEST = 32
_MOST_DRAWN = 24_000
_POINT = 60
"""Half the width of the mark of a cell that is a point."""
_FINE = 60
"""Cells that are smaller have no line around them: it would cover them."""

Floats = npt.NDArray[np.float64]
Shapes = npt.NDArray[np.object_]


def draw(
    description: str,
    outlines: Sequence[str | None],
    values: Floats,
    weights: Floats,
    titles: Sequence[str],
    plane: LocalMetres,
    unit: str,
    *,
    titled: int = MOST_TITLED,
) -> Html | None:
    """A map of the cells that have an outline (well-known text, degrees); None where none has.

    The view holds all cells unless a few lie so far away that the others would vanish; those
    are left out, and the map says how many. `weights` says how much each cell matters to the view.
    `titled` is how many cells may have a title of their own, where a page has several maps; titles
    of more than that need not be given.
    """
    shapes = plane.to_metres(shapely.from_wkt(np.array(outlines, dtype=object)))
    drawable = ~(shapely.is_missing(shapes) | shapely.is_empty(shapes))
    drawable[drawable] = np.isfinite(shapely.bounds(shapes[drawable])).all(axis=1)
    if not drawable.any():
        return None
    shapes, values, weights = shapes[drawable], values[drawable], weights[drawable]
    one_by_one = len(titles) == len(drawable) <= titled
    titles = [title for title, kept in zip(titles, drawable, strict=True) if kept] if one_by_one else []
    west, south, east, north = view(shapes, weights)
    inside = shapely.intersects(shapes, shapely.box(west, south, east, north))
    scale = min(WIDTH / (east - west), HEIGHT / (north - south))
    width, height = round((east - west) * scale), round((north - south) * scale)

    def pixels(xy: Floats) -> Floats:
        return np.column_stack([(xy[:, 0] - west) * scale, (north - xy[:, 1]) * scale])

    bounds = shapely.bounds(shapes)
    sizes = (bounds[:, 2:] - bounds[:, :2]).max(axis=1) * scale
    sizes = np.where(sizes > 0, sizes, 2 * _POINT)
    centres = pixels((bounds[:, :2] + bounds[:, 2:]) / 2)
    alone, squares = merge(centres, sizes, values, inside, max(_MOST_DRAWN, 4 * titled))
    own = np.flatnonzero(alone)
    shown = np.concatenate([values[own], squares.mean])
    breaks = quantile_breaks(shown)
    classes = np.searchsorted(breaks[1:-1], shown, side="right")
    spread = _colours(len(breaks) - 1)
    outlined = paths(shapely.transform(shapes[own], pixels))
    named = [titles[i] for i in own] + _names(squares, titles) if one_by_one else []
    each = outlined + squares.paths() if one_by_one else []
    groups = []
    for k in range(len(breaks) - 1):
        members = np.flatnonzero(classes == k)
        shapes_of_class = (
            [tag("path", tag("title", named[i]), d=each[i]) for i in members]
            if one_by_one
            else tag(
                "path",
                d="".join(outlined[i] for i in members[members < len(own)])
                + squares.rows_of(members[members >= len(own)] - len(own)),
            )
        )
        groups.append(tag("g", shapes_of_class, cls=f"q{spread[k]}"))
    fine = float(np.median(np.append(sizes[own], np.full(len(squares.cells), squares.side)))) < _FINE
    look = "map fine" if fine else "map"
    svg = tag("svg", groups, viewBox=f"0 0 {width} {height}", role="img", aria_label=description, cls=look)
    fits = f"{_TALLEST * width / height:.1f}"
    noun = "cell" if not len(squares.cells) else "square" if not len(own) else "shape"
    return tag(
        "div",
        tag("div", tag("div", svg, scale_bar(scale, width), style=f"max-width:{fits}rem"), cls="sheet"),
        _legend(breaks, np.bincount(classes, minlength=len(breaks) - 1), spread, unit, noun),
        _left_out(int((~inside).sum())),
        _merged(squares, int(inside.sum()), scale),
        cls="atlas",
    )


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


def view(shapes: Shapes, weights: Floats) -> tuple[float, float, float, float]:
    """West, south, east and north of what is drawn, in metres."""
    bounds = shapely.bounds(shapes)
    for _ in range(2):  # what one axis leaves out no longer matters to the other
        west, east = _extent(bounds[:, 0], bounds[:, 2], weights)
        kept = (bounds[:, 2] >= west) & (bounds[:, 0] <= east)
        bounds, weights = bounds[kept], weights[kept]
        south, north = _extent(bounds[:, 1], bounds[:, 3], weights)
        kept = (bounds[:, 3] >= south) & (bounds[:, 1] <= north)
        bounds, weights = bounds[kept], weights[kept]
    margin = max(east - west, north - south, 1.0) * 0.01
    return west - margin, south - margin, east + margin, north + margin


def _extent(low: Floats, high: Floats, weights: Floats) -> tuple[float, float]:
    """All of an axis, or its core where that is less than a quarter of it."""
    order = np.argsort(low + high, kind="stable")
    upto = np.cumsum(weights[order]) / (weights.sum() or 1)
    first, last = order[np.searchsorted(upto, [1 - _CORE, _CORE]).clip(max=len(order) - 1)]
    core = high[last] - low[first]
    if high.max() - low.min() > 4 * core > 0:
        return float(low[first] - core / 4), float(high[last] + core / 4)
    return float(low.min()), float(high.max())


def paths(shapes: Shapes) -> list[str]:
    """SVG path data of each shape: first corner, then steps; points become small diamonds."""
    corners = shapely.bounds(shapes)
    points = (corners[:, 2:] - corners[:, :2]).max(axis=1) == 0
    shapes = np.where(points, shapely.buffer(shapely.centroid(shapes), _POINT, quad_segs=1), shapes)
    simple = shapely.simplify(shapes, 3)
    parts, owner = shapely.get_parts(shapely.normalize(simple), return_index=True)
    rings, part = shapely.get_rings(parts, return_index=True)
    drawn = [""] * len(shapes)
    for ring, cell in zip(rings, owner[part], strict=True):
        drawn[cell] += _ring(np.rint(shapely.get_coordinates(ring)).astype(np.int64))
    return drawn


def _ring(corners: npt.NDArray[np.int64]) -> str:
    steps = np.diff(corners[:-1], axis=0)
    (x, y), moves = corners[0], [f"{dx} {dy}" for dx, dy in steps.tolist() if dx or dy]
    return f"M{x} {y}l{' '.join(moves)}z".replace(" -", "-")


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
    return tag("div", tag("p", unit, cls="note"), legend(entries), cls="key")


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
