"""Risk against loss as a drawing: a point for each release, named by what made it."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from trajlab.report import words
from trajlab.report.drawing.scatter import Point, Scatter
from trajlab.report.evidence import table
from trajlab.report.markup import tag
from trajlab.report.page import shell
from trajlab.report.sheets import sheet
from trajlab.version import __version__


def svg(title: str, points: pl.DataFrame) -> str:
    """The text of an SVG file that needs nothing around it."""
    return sheet(title, [("", [("", _chart(title, points))])], f"{note(points)} Made with trajlab {__version__}.")


def note(points: pl.DataFrame) -> str:
    """How to read the chart: of the lines, those that it has."""
    shown = points.drop_nulls(["risk", "loss"])
    best = shown.filter(pl.Series(not_beaten(shown), dtype=pl.Boolean)).select("risk", "loss").unique()
    dashed = "; the dashed line joins those that no other release beats in both" if len(best) > 1 else ""
    thin = "" if shown["low"].null_count() == len(shown) else " Thin lines are 95% intervals of the risk."
    return (
        f"Each point is a release. Left is less lost, below is less risk{dashed}.{thin} "
        "Names that find no room are in the table."
    )


def html(title: str, points: pl.DataFrame, notes: Sequence[str] = ()) -> str:
    """A page with the chart, what is to be known of its numbers, and the table behind it."""
    return shell(
        f"{title} · trajlab",
        tag(
            "main",
            tag(
                "section",
                tag("h1", title),
                tag("p", note(points)),
                tag("figure", _chart(title, points).html()),
                [tag("p", text) for text in notes],
                tag("details", tag("summary", "Table"), table("Risk and loss of every release", points)),
                cls="hero",
            ),
        ),
    )


def not_beaten(points: pl.DataFrame) -> list[bool]:
    """Of each point, whether no other has less of both risk and loss (or less of one, and no more of the other)."""
    pairs = list(points.select("risk", "loss").iter_rows())
    return [
        None not in pair and not any(None not in other and _beats(other, pair) for other in pairs) for pair in pairs
    ]


def _beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one != other and one[0] <= other[0] and one[1] <= other[1]


def _chart(title: str, points: pl.DataFrame) -> Scatter:
    shown = points.with_columns(chosen=pl.Series(not_beaten(points), dtype=pl.Boolean)).drop_nulls(["risk", "loss"])
    slots = shown["slot_minutes"].n_unique() > 1
    drawn = [
        Point(
            row["loss"],
            row["risk"],
            _name(row, slots=slots),
            words.cells(row["index_name"]),
            row["low"],
            row["high"],
            row["chosen"],
        )
        for row in shown.iter_rows(named=True)
    ]
    first = points.row(0, named=True)
    return Scatter(f"{title}: risk against loss", drawn, _loss(first["loss_name"]), _risk(first["risk_name"]))


def _name(row: dict[str, object], *, slots: bool) -> str:
    length = words.span(float(str(row["slot_minutes"])) * 60)
    recipe = str(row["recipe"]) or ("" if slots else "counts as they are")
    return ", ".join(filter(None, [length if slots else "", recipe]))


def _loss(name: str) -> str:
    if name == "counts":
        return "Relative error of the counts"
    if name.startswith("flows:"):
        return f"Loss of flows between {words.lower_first(words.cells(name.removeprefix('flows:')))}"
    return name


def _risk(name: str) -> str:
    """What the risk is, in words: that of an attack, of an adversary or of membership."""
    known, _, attack = name.partition(" on ")
    if name == "membership":
        return "Advantage in telling who is in the table"
    if name.startswith("share of "):
        return words.upper_first(name)
    if attack:
        return f"Singled out by {known} among tracks recovered by {attack}"
    if ":" in known and known.partition(":")[0] not in ("reference", "release-only"):
        return f"Singled out by {known} in traces behind the table"
    if known.partition(":")[0] in ("reference", "release-only"):
        return f"Advantage of {known} in telling who is in the table"
    return f"Share of slots that {known} recovers" if " " not in known else known
