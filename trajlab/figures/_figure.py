"""A figure of a paper as a value: a relation of the lab, how to draw it, and what the paper found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

COLUMNS = ("series", "x", "estimate", "low", "high")


@dataclass(frozen=True, slots=True)
class Published:
    """A number that the paper gives in its text or tables, and for which of its data sets."""

    data_set: str
    x: float | str
    value: float


@dataclass(frozen=True, slots=True)
class Figure:
    """Drawn from a relation with release_id, series, x_value (x_label where x is text), estimate, low and high.

    A relation that has a column `figure` holds several: this one's rows are those of its number. `across` says that
    the rows of a release are about all releases like it, so that any will do.
    """

    name: str
    title: str
    x: str
    y: str
    relation: str
    needs: str
    kind: Literal["bars", "lines"] = "bars"
    log_x: bool = False
    log_y: bool = False
    shares: bool = True
    share_x: bool = False
    across: bool = False
    curve: str = ""
    """What the names of fitted curves have in them; the other series are points then, which no line joins."""
    published: tuple[Published, ...] = ()
    note: str = ""

    @property
    def rows(self) -> dict[str, str]:
        """Which rows of the relation are this figure's: all, or those of its number."""
        paper, _, number = self.name.partition("-fig" if "-fig" in self.name else "-")
        return {} if self.relation == f"figures.{paper}_{number}" else {"figure": number}


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure with the answer of one release."""

    figure: Figure
    release_id: str
    answer: pl.DataFrame
    """series, x, estimate, low and high, in the order of the legend."""
    people: int
    """Of the release; stands on the drawing."""

    @property
    def table(self) -> pl.DataFrame:
        """What was measured, then what the paper gives, with the same columns."""
        measured = self.answer.select(
            pl.col("series").cast(pl.String),
            pl.col("x").cast(pl.String),
            pl.col("estimate", "low", "high").cast(pl.Float64),
        )
        rows = [(f"published, {p.data_set}", f"{p.x}", p.value, None, None) for p in self.figure.published]
        return pl.concat([measured, pl.DataFrame(rows, schema=measured.schema, orient="row")])

    @classmethod
    def of(cls, figure: Figure, release_id: str, rows: pl.DataFrame, people: int) -> Drawn:
        """From the relation's rows of one release: x is its text where it has one, else a number, whole if all are."""
        x = rows["x_value"]
        if "x_label" in rows.columns and rows["x_label"].is_not_null().all():
            x = rows["x_label"]
        elif (x == x.round()).all():
            x = x.cast(pl.Int64)
        return cls(figure, release_id, rows.with_columns(x=x).select(COLUMNS), people)

    def svg(self) -> str:
        """The text of an SVG file that needs nothing around it: no style sheet, no script, no font of its own."""
        from trajlab.figures._plot import svg

        return svg(self)
