"""A study of factors as a drawing: accuracy by stage and uniqueness, over what was varied (xu2017, figs 9 to 11)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from trajlab.report import words
from trajlab.report.drawing.bars import Bar, Groups
from trajlab.report.evidence import table
from trajlab.report.markup import tag
from trajlab.report.page import shell
from trajlab.report.sheets import sheet
from trajlab.version import __version__

if TYPE_CHECKING:
    from trajlab.study.run import Study

STAGES = {1: "nights (#1)", 2: "days (#2)", 3: "everything (#3)"}
YARDSTICKS = {"shuffle": "slots joined at random", "stay": "nobody moves"}
_FACTORS = {
    "index": "the cells",
    "slot_minutes": "the length of a slot",
    "people": "the number of people",
    "recipe": "protection",
}

Row = tuple[str, list[tuple[str, Groups]]]


def svg(study: Study) -> str:
    """The text of an SVG file that needs nothing around it."""
    return sheet(_title(study), list(_rows(study)), _note(study))


def html(study: Study) -> str:
    """A page with the charts, and the table behind them."""
    shown = study.table.drop("release_id", "run_id")
    figures = [
        tag("figure", tag("figcaption", tag("h3", " · ".join(filter(None, (caption, row))))), chart.html())
        for row, charts in _rows(study)
        for caption, chart in charts
    ]
    return shell(
        f"{_title(study)} · trajlab",
        tag(
            "main",
            tag(
                "section",
                tag("h1", _title(study)),
                tag("p", _note(study)),
                figures,
                tag("details", tag("summary", "Table"), table("Every score of the study", shown)),
                cls="hero",
            ),
        ),
    )


def _title(study: Study) -> str:
    return f"What {words.join_list([_FACTORS[name] for name in study.factors])} change{'s' * _singular(study)}"


def _singular(study: Study) -> bool:
    return len(study.factors) == 1 and study.factors != ("index",)


def _note(study: Study) -> str:
    fixed = study.table.row(0, named=True)
    same = {
        "index": words.cells(fixed["index"]),
        "slot_minutes": f"slots of {words.span(fixed['slot_minutes'] * 60)}",
        "people": words.people(fixed["people"]),
        "recipe": fixed["recipe"],
    }
    kept = [text for name, text in same.items() if text and name not in study.factors and _one(study, name)]
    pairing = _pairing(study.table)
    paired = f" Tracks are paired with people by the {pairing} pairing." if pairing else ""
    return (
        "Accuracy: share of slots in which a recovered track is in the right cell. Unique: share of recovered tracks "
        "whose set of most frequent cells no other track has. Thin lines on the bars are 95% intervals over people."
        f"{paired} {f'The same throughout: {words.join_list(kept)}. ' if kept else ''}Made with trajlab {__version__}."
    )


def _one(study: Study, name: str) -> bool:
    return study.table[name].n_unique() == 1


def _rows(study: Study) -> Iterator[Row]:
    """One row of charts for each attack and each setting of the factors that are not along the axis."""
    along = max(study.factors, key=lambda name: study.table[name].n_unique())
    others = [name for name in study.factors if name != along]
    labels = _labels(study, along)
    scores = study.table.filter(pl.col("pairing").is_in([_pairing(study.table), "none"]))
    parts = scores.partition_by("attack", *others, maintain_order=True, as_dict=True)
    many = scores["attack"].n_unique() > 1
    for (attack, *setting), rows in parts.items():
        texts = [str(attack)] if many or not others else []
        texts += [_labels(study, name)[value] for name, value in zip(others, setting, strict=True)]
        yield " · ".join(texts), list(_charts(rows, along, labels, " · ".join(texts)))


def _charts(rows: pl.DataFrame, along: str, labels: dict[object, str], title: str) -> Iterator[tuple[str, Groups]]:
    settings = {value: labels[value] for value in rows[along].unique(maintain_order=True)}
    accuracy = rows.filter(pl.col("metric") == "accuracy")
    if len(accuracy):
        groups = [(label, _bars(accuracy.filter(pl.col(along) == value), STAGES)) for value, label in settings.items()]
        yield (
            "Accuracy",
            Groups(f"Accuracy by stage, {title}", list(STAGES.values()), groups, list(YARDSTICKS.values()), 1.0),
        )
    recovered, truth = (rows.filter(of=of, metric="unique_share") for of in ("recovered", "truth"))
    sizes = {k: f"top {k}" for k in range(1, 6)}
    groups = [
        (label, _bars(recovered.filter(pl.col(along) == value), sizes, truth.filter(pl.col(along) == value)))
        for value, label in settings.items()
    ]
    marks = [YARDSTICKS["shuffle"], *(["true trajectories"] if len(truth) else [])]
    yield (
        "Unique",
        Groups(f"Share of recovered tracks that are unique, {title}", list(sizes.values()), groups, marks, 1.0),
    )


def _bars(rows: pl.DataFrame, levels: dict[int, str], truth: pl.DataFrame | None = None) -> list[Bar]:
    """One bar a level; held against the yardsticks, or against what the same measure is of the truth."""
    found = {row["level"]: row for row in rows.iter_rows(named=True)}
    true = dict(truth.select("level", "estimate").iter_rows()) if truth is not None else {}
    bars = []
    for level in levels:
        row = found.get(level)
        if row is None:
            bars.append(Bar(None))
            continue
        marks = {YARDSTICKS["shuffle"]: row["shuffle"]}
        marks |= {YARDSTICKS["stay"]: row["stay"]} if truth is None else {"true trajectories": true.get(level)}
        bars.append(Bar(row["estimate"], row["low"], row["high"], marks))
    return bars


def _pairing(scores: pl.DataFrame) -> str:
    """The pairing that every release has: optimal, or greedy where one has too many people for that."""
    accuracy = scores.filter(pl.col("metric") == "accuracy")
    runs = accuracy["run_id"].n_unique()
    for pairing in ("optimal", "greedy"):
        if runs and accuracy.filter(pl.col("pairing") == pairing)["run_id"].n_unique() == runs:
            return pairing
    return ""


def _labels(study: Study, factor: str) -> dict[object, str]:
    values = study.table[factor].unique(maintain_order=True).to_list()
    if factor == "index":
        texts = [words.cells(value) for value in values]
        return dict(zip(values, texts if len(set(texts)) == len(texts) else values, strict=True))
    if factor == "slot_minutes":
        return {value: words.span(value * 60) for value in values}
    if factor == "recipe":
        return {value: value or "counts as they are" for value in values}
    return {value: words.people(value) for value in values}
