"""Releases side by side: how large each is, and how small its counts are."""

from __future__ import annotations

import polars as pl

from trajlab.report import words
from trajlab.report.contents import Contents
from trajlab.report.drawing import charts
from trajlab.report.evidence import block, figure, table
from trajlab.report.markup import Html, join

TITLE = "Releases compared"
POSITION = 10
TERMS = {
    "Published count": "The number of people in one cell during one slot. What is not published has no row: "
    "nobody was there, or fewer people than the smallest count that is published.",
    "Alone": "Share of published counts that are exactly one.",
    "Middle count": "Median of the published counts: half of them are this small or smaller.",
    "Hidden": "Share of person-slots (one person in one slot) that suppression kept out of the counts.",
    "Filled": "Share of person-slots without a record, in which the position was filled in as the release says.",
    "Typical cell": "Median area of the cells with a published count.",
}

SIZES = """\
select release_id, size_class, counts, share
from report.counts_by_size
order by release_id, smallest"""
NOTES = """\
select release_id, note
from study.note
order by release_id, not starts_with(note, 'warning'), subject"""
CLASSES = ("1", "2", "3–4", "5–9", "10–19", "20 or more")

_COLUMNS = {
    "release": "Release", "people": "People", "cells": "Cells", "median_area_km2": "Typical cell, km²",
    "slots": "Slots", "slot_minutes": "Slot, min", "fill": "Fill", "min_count": "Smallest count",
    "counts": "Counts", "flow_counts": "Flows", "median_count": "Middle count", "largest_count": "Largest count",
    "alone": "Alone", "filled": "Filled", "hidden": "Hidden",
}  # fmt: skip


def render(contents: Contents) -> Html | None:
    if not contents.releases:
        return None
    return join(_compared(contents), _notes(contents), _sizes(contents))


def _compared(contents: Contents) -> Html:
    named = contents.summary.frame.with_columns(release=pl.Series([release.name for release in contents.releases]))
    show = dict.fromkeys(("alone", "filled", "hidden"), words.share) | {"median_area_km2": words.number}
    shown = table("What each release holds", named.select(list(_COLUMNS)), show=show, heads=_COLUMNS)
    return block(shown, contents.summary)


def _notes(contents: Contents) -> Html | None:
    answer = contents.load_answer(NOTES)
    shown = {release.id for release in contents.releases}
    notes = [(contents.name_of(row["release_id"]), row["note"]) for row in answer.frame.iter_rows(named=True)
            if row["release_id"] in shown]  # fmt: skip
    if not notes:
        return None
    return block(table("What to know of them", pl.DataFrame(notes, schema=["Release", "Note"], orient="row")), answer)


def _sizes(contents: Contents) -> Html | None:
    answer = contents.load_answer(SIZES)
    rows = []
    for release in contents.releases:
        of_one = {
            r["size_class"]: r["share"] for r in answer.frame.iter_rows(named=True) if r["release_id"] == release.id
        }
        if of_one:
            rows.append((release.name, [of_one.get(name, 0.0) for name in CLASSES]))
    if not rows:
        return None
    text = "Share of published counts by size. " + "; ".join(
        f"{name}: {words.share(part[0])} are one" for name, part in rows
    )
    return figure(
        "How small the counts are",
        charts.shares(text, rows, CLASSES),
        answer,
        note="Share of published counts by the number of people in them. The first colour is one person, alone.",
        show={"release_id": contents.name_of, "share": words.share},
    )
