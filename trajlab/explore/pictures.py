"""A picture of an answer where it has the shape of one: outlines and a number make a map, a few columns a chart."""

from __future__ import annotations

import numpy as np
import polars as pl

from trajlab.report import words
from trajlab.report.drawing import charts, maps
from trajlab.report.drawing.backdrop import Backdrop
from trajlab.report.drawing.extent import Extent
from trajlab.report.markup import Html, join
from trajlab.spatial._projection import LocalMetres

MOST_BARS = 60


def of(frame: pl.DataFrame) -> Html | None:
    """A map of `polygon` by the first number; bars of text and a number; lines of numbers over the first of them."""
    numbers = [name for name, kind in frame.schema.items() if kind.is_numeric() and name != "cell"]
    if len(frame) < 2 or not numbers:
        return None
    if frame.schema.get("polygon") == pl.String:
        return _map(frame, numbers[0])
    first = frame.columns[0]
    if frame.schema[first] == pl.String and first not in numbers and len(frame) <= MOST_BARS:
        return _bars(frame, first, numbers[0])
    if first in numbers and len(numbers) > 1:
        return _lines(frame, first, numbers[1 : 1 + charts.SERIES])
    return None


def _map(frame: pl.DataFrame, number: str) -> Html | None:
    import shapely

    known = frame.drop_nulls(["polygon", number])
    if not len(known):
        return None
    shapes = np.asarray(shapely.from_wkt(known["polygon"].to_numpy(), on_invalid="ignore"), dtype=object)
    middles = shapely.centroid(shapes[~shapely.is_missing(shapes)])
    middles = middles[~shapely.is_empty(middles)]
    if not len(middles):
        return None
    values = known[number].cast(pl.Float64).to_numpy()
    label = next((name for name in ("label", "cell") if name in known.columns), None)
    names = known[label].cast(pl.String).fill_null("").to_list() if label else [""] * len(known)
    titles = [f"{words.short(name)}\n{number} {words.number(value)}" for name, value in zip(names, values, strict=True)]
    extent = Extent.around(shapes, abs(values), LocalMetres(middles[0].x, middles[0].y))
    if extent is None:
        return None
    backdrop = Backdrop.of(extent)
    drawn = maps.draw(f"Map by {number}", shapes, values, titles, backdrop, number)
    return join(backdrop.drawing, drawn) if drawn is not None else None


def _bars(frame: pl.DataFrame, label: str, number: str) -> Html | None:
    known = frame.select(label, number).drop_nulls()
    bars = [(words.short(name, 16), float(value)) for name, value in known.iter_rows()]
    if not bars or min(value for _, value in bars) < 0:
        return None
    return charts.columns(f"{number} by {label}", bars)


def _lines(frame: pl.DataFrame, x: str, numbers: list[str]) -> Html | None:
    known = frame.drop_nulls(x).sort(x)
    places = known[x].cast(pl.Float64)
    if places.n_unique() < len(places) or not places.is_finite().all() or len(places) < 2:
        return None
    series: dict[str, charts.Points] = {
        name: list(zip(places.to_list(), known[name].cast(pl.Float64).to_list(), strict=True)) for name in numbers
    }
    values = [y for points in series.values() for _, y in points if y is not None]
    if not values or min(values) < 0:
        return None
    low, high = places[0], places[-1]
    marks = [low + (high - low) * n / 4 for n in range(5)]
    axis = charts.Axis(
        low, high, [(mark, words.number(mark)) for mark in marks], say=lambda at: f"{x} {words.number(at)}"
    )
    return charts.lines(f"{', '.join(numbers)} by {x}", series, axis)
