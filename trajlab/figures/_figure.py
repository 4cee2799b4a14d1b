"""A figure of a paper as a value: one query, how to draw its answer, and what the paper found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

COLUMNS = ("series", "x", "estimate", "low", "high")


@dataclass(frozen=True, slots=True)
class Published:
    """A number that the paper gives in its text or tables, and for which of its data sets."""

    told: str
    x: float | str
    value: float


@dataclass(frozen=True, slots=True)
class Figure:
    """Drawn from the answer to `sql`: series, x (a number, or text for bars), estimate, low and high.

    The query takes $release_id. `across` says that it looks at all releases like that one, so that any will do.
    """

    name: str
    title: str
    x: str
    y: str
    sql: str
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


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure with the answer of one release."""

    figure: Figure
    release_id: str
    answer: pl.DataFrame

    @property
    def table(self) -> pl.DataFrame:
        """What was measured, then what the paper gives, with the same columns."""
        measured = self.answer.select(
            pl.col("series").cast(pl.String),
            pl.col("x").cast(pl.String),
            pl.col("estimate", "low", "high").cast(pl.Float64),
        )
        rows = [(f"published, {p.told}", f"{p.x}", p.value, None, None) for p in self.figure.published]
        return pl.concat([measured, pl.DataFrame(rows, schema=measured.schema, orient="row")])

    def svg(self) -> str:
        """The text of an SVG file that needs nothing around it: no style sheet, no script, no font of its own."""
        from trajlab.figures._plot import svg

        return svg(self)
