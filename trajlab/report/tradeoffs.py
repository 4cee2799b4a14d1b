"""A trade-off as drawings: figures 4 to 13 of yin2015, on a sheet or on a page with their numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import polars as pl

from trajlab.report import naming, words
from trajlab.report.drawing.curves import Curve, Curves
from trajlab.report.evidence import table
from trajlab.report.markup import tag
from trajlab.report.page import shell
from trajlab.report.sheets import sheet
from trajlab.version import __version__

if TYPE_CHECKING:
    from trajlab.utility.tradeoff import Tradeoff

ABREAST = 2
SEEN = 0.005
"""A fall of the loss that is worth a word."""
MOST_FALLS = 3
TITLE = "What protection costs, and what it protects"
MEASURES = {
    "all": "All flows",
    "pareto": "The largest flows (Pareto)",
    "backbone": "Flows that stand out (backbone)",
    "hotspot": "Flows of busy zones (hotspot)",
    "commuters": "Common part of commuters",
}
KINDS = {
    "square": "squares",
    "h3": "hexagons",
    "inspire": "European grid",
    "quadkey": "web map tiles",
    "stations": "merged stations",
}
FLOWS = {"raw": "raw movements", "constrained": "movements constrained in time"}
NOTE = (
    "Singled out: share of people whose own trace is the only one that fits what is known of them. Loss: sum of what "
    "changes in the flows between zones, by their sum, so that 100% misplaces 50 of 100 trips; for the common part of "
    "commuters, what is not common. Each point is a generalisation; the curves between risk and loss are "
    "loss = -a risk^b + c by least squares, b with its standard error."
)

Row = tuple[str, list[tuple[str, Curves]]]


def svg(tradeoff: Tradeoff) -> str:
    """The text of an SVG file that needs nothing around it."""
    return sheet(
        TITLE, list(rows(tradeoff.points, tradeoff.fits)), f"{NOTE} {_of(tradeoff)} Made with trajlab {__version__}."
    )


def html(tradeoff: Tradeoff) -> str:
    """A page with the charts, and the tables behind them."""
    figures = [
        tag("figure", tag("figcaption", tag("h3", " · ".join(filter(None, (row, caption))))), chart.html())
        for row, charts in rows(tradeoff.points, tradeoff.fits)
        for caption, chart in charts
    ]
    tables = [
        tag("details", tag("summary", name), table(name, frame))
        for name, frame in (("Curves", tradeoff.fits), ("Points", tradeoff.points))
    ]
    note = tag("p", f"{NOTE} {_of(tradeoff)} Made with trajlab {__version__}.")
    body = tag("main", tag("section", tag("h1", TITLE), note, figures, tables, cls="hero"))
    return shell(f"{TITLE} · trajlab", body)


def _of(tradeoff: Tradeoff) -> str:
    return words.upper_first(f"{tradeoff.description}.")


def rows(points: pl.DataFrame, fits: pl.DataFrame) -> Iterator[Row]:
    """Risk by size, loss by size for each set of zones, then loss by risk for each kind of flows."""
    known = points["knowledge"].unique(maintain_order=True).to_list()
    yield from _abreast(
        "", [(f"Singled out, by the size of {cells}", risk_by_size(some)) for cells, some in by_kind(points)]
    )
    several = points["zones"].n_unique() > 1
    for zones in points["zones"].unique(maintain_order=True):
        some = points.filter(zones=zones, knowledge=known[0])
        charts = [
            (f"Loss by the size of {cells}, {FLOWS[flows]}", loss_by_size(part.filter(flows=flows), zones))
            for flows in some["flows"].unique(maintain_order=True)
            for cells, part in by_kind(some)
        ]
        yield from _abreast(f"Between {zones}" if several else "", charts)
    for flows, measure in points.select("flows", "measure").unique(maintain_order=True).iter_rows():
        charts = [(naming.knowledge(name), loss_by_risk(points, fits, name, flows, measure)) for name in known]
        yield from _abreast(f"{MEASURES[measure]}, {FLOWS[flows]}: loss by the share singled out", charts)


def _abreast(name: str, charts: list[tuple[str, Curves]]) -> Iterator[Row]:
    for n in range(0, len(charts), ABREAST):
        yield name, charts[n : n + ABREAST]


def by_kind(points: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Points by the kind of larger cells, each with the release itself; a line through all would run to and fro."""
    kind = pl.col("index_name").str.split(":").list.first()
    kinds = points.filter(pl.col("step") > 0).select(kind.unique(maintain_order=True)).to_series()
    for name in kinds:
        reasons = KINDS.get(name, name) if len(kinds) > 1 else "cells"
        yield reasons, points.filter((pl.col("step") == 0) | (kind == name))


def risk_by_size(points: pl.DataFrame) -> Curves:
    """Figure 4: one line an adversary."""
    once = points.unique(["step", "knowledge"], keep="first", maintain_order=True).sort("size_m", maintain_order=True)
    return Curves(
        "Share of people singled out by the size of cells",
        [
            _line(naming.knowledge(name), once.filter(knowledge=name), "risk")
            for name in points["knowledge"].unique(maintain_order=True)
        ],
        along="size of cells",
        say_x=words.metres,
    )


def loss_by_size(points: pl.DataFrame, zones: str) -> Curves:
    """Figure 5: one line a measure."""
    ordered = points.sort("size_m", maintain_order=True)
    return Curves(
        f"Loss of utility by the size of cells, between {zones}",
        [
            _line(MEASURES[measure], ordered.filter(measure=measure), "loss")
            for measure in points["measure"].unique(maintain_order=True)
        ],
        along="size of cells",
        say_x=words.metres,
        note=_falls(ordered),
    )


def _falls(points: pl.DataFrame) -> str:
    """Where a loss is smaller with larger cells, by more than can be overlooked; points are in order of size."""
    before = pl.col("size_m", "loss").shift(1).over("measure").name.prefix("last_")
    steps = points.drop_nulls("loss").with_columns(before)
    fell = steps.filter(pl.col("loss") < pl.col("last_loss") - SEEN).select("last_size_m", "size_m").unique()
    if not len(fell):
        return ""
    texts = [f"from {words.metres(last)} to {words.metres(size)}" for last, size in fell.sort("size_m").iter_rows()]
    more = [f"{len(texts) - MOST_FALLS} times more"] if len(texts) > MOST_FALLS else []
    where = words.join_list(texts[:MOST_FALLS] + more)
    return f"Loss falls {where}: where the borders of cells lie counts, not their size alone."


def loss_by_risk(points: pl.DataFrame, fits: pl.DataFrame, knowledge: str, flows: str, measure: str) -> Curves:
    """One panel of figures 6 to 13: points of each set of zones, and the curve through them."""
    some = points.filter(pl.col("step") > 0, knowledge=knowledge, flows=flows, measure=measure)
    curves, reasons = [], []
    for zones in some["zones"].unique(maintain_order=True):
        pairs = some.filter(zones=zones).select("risk", "loss").drop_nulls().rows()
        fitted = fits.filter(zones=zones, knowledge=knowledge, flows=flows, measure=measure).row(0, named=True)
        curves.append(Curve(fitted_name(zones, fitted), pairs, _fitted(fitted, [x for x, _ in pairs])))
        reasons += [fitted["reason"].partition(":")[0]] if fitted["reason"] else []
    return Curves(
        f"Loss of utility by the share singled out, {naming.knowledge(knowledge)}",
        curves,
        along="share singled out",
        note="; ".join(dict.fromkeys(reasons)),
    )


def fitted_name(zones: str, fitted: dict[str, Any]) -> str:
    if fitted["b"] is None:
        return zones
    return f"{zones}: b = {words.estimated(fitted['b'], fitted['b_error'])}, R² = {fitted['r2']:.3f}"


def _line(name: str, points: pl.DataFrame, column: str) -> Curve:
    pairs = points.select("size_m", column).drop_nulls().rows()
    return Curve(name, pairs, pairs)


def _fitted(fitted: dict[str, Any], risks: list[float]) -> list[tuple[float, float]]:
    if fitted["b"] is None:
        return []
    low, high = min(risks), max(risks)
    places = [low + (high - low) * (1 - math.cos(math.pi * n / 60)) / 2 for n in range(61)]  # closer at both ends
    return [(x, fitted["c"] - fitted["a"] * x ** fitted["b"]) for x in places]
