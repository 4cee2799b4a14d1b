"""A number and the query behind it, never apart: a few lines over a relation of the lab, and its rows."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from trajlab.report import words
from trajlab.report.markup import Child, Html, tag

if TYPE_CHECKING:
    from trajlab.lab import Lab

LONGEST = 100
"""Rows of a table that the page shows; the query beside it gives the rest."""

Show = Mapping[str, Callable[[Any], Child]]


@dataclass(frozen=True)
class Answer:
    """Rows of a relation, and the query that gives them."""

    sql: str
    params: dict[str, str | int | float]
    frame: pl.DataFrame

    @classmethod
    def load(cls, lab: Lab, sql: str, **params: str | int | float) -> Answer:
        return cls(sql.strip(), params, lab.sql(sql, **params))

    def select(self, *columns: str) -> Answer:
        """Only these columns, for a table on the page; the query gives all."""
        return replace(self, frame=self.frame.select(columns))

    def drop(self, *columns: str) -> Answer:
        return replace(self, frame=self.frame.drop(columns))

    def rename(self, names: Mapping[str, str]) -> Answer:
        return replace(self, frame=self.frame.rename(names))

    @property
    def runnable(self) -> str:
        """The query as text to paste into a DuckDB shell: the one that was run, with its values in it."""
        return re.sub(r"\$(\w+)", lambda name: _literal(self.params[name[1]]), self.sql) + ";"


def figure(
    title: str,
    drawing: Child,
    answer: Answer,
    *,
    note: Child = None,
    show: Show | None = None,
    heads: Mapping[str, str] | None = None,
) -> Html:
    """A drawing under its title, with its table and its query one click away."""
    numbers = tag("details", tag("summary", "Table"), table(title, answer.frame, show=show, heads=heads))
    return tag(
        "figure",
        tag("figcaption", tag("h3", title), tag("p", note, cls="note") if note is not None else None),
        drawing,
        tag("div", numbers, _query(answer), cls="behind"),
    )


def block(shown: Html, answer: Answer) -> Html:
    """A table that is shown at once, with its query one click away."""
    return tag("div", shown, tag("div", _query(answer), cls="behind"), cls="block")


def _query(answer: Answer) -> Html:
    return tag("details", tag("summary", "SQL"), tag("pre", tag("code", answer.runnable), tabindex=0))


def table(
    caption: str,
    frame: pl.DataFrame,
    *,
    show: Show | None = None,
    heads: Mapping[str, str] | None = None,
    longest: int = LONGEST,
) -> Html:
    """A frame as a table: numbers to the right, columns shown as `show` says."""
    show, heads = show or {}, heads or {}
    numeric = {name for name, kind in frame.schema.items() if kind.is_numeric()}
    cut = f" (the first {longest} of {len(frame):,} rows)" if len(frame) > longest else ""
    head = [
        tag(
            "th",
            heads.get(name, name.replace("_", " ").capitalize()),
            scope="col",
            cls="n" if name in numeric else None,
        )
        for name in frame.columns
    ]
    body = [
        tag(
            "tr",
            [
                tag("td", show.get(name, _plain)(value), cls="n" if name in numeric else None)
                for name, value in row.items()
            ],
        )
        for row in frame.head(longest).iter_rows(named=True)
    ]
    return tag(
        "div",
        tag("table", tag("caption", caption + cut), tag("thead", tag("tr", head)), tag("tbody", body)),
        cls="scroll",
        tabindex=0,
        role="region",
        aria_label=caption,
    )


def _plain(value: object) -> str:
    if value is None:
        return words.NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return words.number(value, 4)
    if isinstance(value, dt.datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    return words.short(str(value), 200)


def _literal(value: str | int | float) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)
