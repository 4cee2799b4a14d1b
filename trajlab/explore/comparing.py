"""Releases side by side: a column each, a row for every answer that one of them has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trajlab.report import naming, words
from trajlab.report.contents import Contents, Published
from trajlab.report.evidence import Answer, block
from trajlab.report.markup import Child, Html, tag

MOST = 6
"""Releases that a table shows unless they are chosen."""
MEASURES = """\
from report.release_measure
where release_id in (select unnest(string_split($releases, ' '))) order by rank, measure, asked"""
_NAMES = {
    "alone": "Counts of one person, alone",
    "hidden": "People hidden by suppression",
    "accuracy": "Slots recovered by",
    "unique_share": "Singled out by",
    "auc": "Told to be in the table",
    "relative_error": "Error of the counts",
}
_ABOUT = {"table": "the published table", "traces": "traces behind it"}


def page(contents: Contents, choices: Mapping[str, str]) -> Child:
    """Which releases to compare, and what is known of each."""
    if len(contents.releases) < 2:
        return [
            tag("h1", "Compare releases"),
            tag("p", "The lab has fewer than two releases of everybody: `trajlab release` with other cells, other "
                "slots or --protect makes another, and this page lays them side by side."),
        ]  # fmt: skip
    chosen = [each for each in contents.releases if each.id in choices] or contents.releases[:MOST]
    answer = contents.load_answer(MEASURES, releases=" ".join(each.id for each in chosen))
    boxes = [
        tag("label", tag("input", type="checkbox", name=each.id, value="1", checked=each in chosen), f" {each.name}")
        for each in contents.releases
    ]
    lacking = "A dash: nobody has asked that of this release yet."
    return [
        tag("h1", "Compare releases"),
        tag("form", boxes, tag("button", "Compare"), method="get", action="compare", cls="pick boxes"),
        block(_table(answer, chosen), answer),
        tag("p", f"Shares with their 95% intervals; lower is safer, but for people hidden. {lacking}", cls="note"),
    ]


def _table(answer: Answer, chosen: Sequence[Published]) -> Html:
    told: dict[tuple[str, str], dict[str, str]] = {}
    for row in answer.frame.iter_rows(named=True):
        within = "" if row["low"] is None else f" ({words.share(row['low'])} to {words.share(row['high'])})"
        question = told.setdefault((_name(row), _ABOUT[row["about"]]), {})
        question[row["release_id"]] = f"{words.share(row['estimate'])}{within}"
    rows = [
        tag(
            "tr",
            tag("th", name, scope="row"),
            tag("td", about),
            [tag("td", said.get(each.id, words.NOTHING)) for each in chosen],
        )
        for (name, about), said in told.items()
    ]
    facts = [("People", "people"), ("Cells", "cells"), ("Counts", "counts")]
    sizes = [
        tag(
            "tr",
            tag("th", name, scope="row"),
            tag("td", _ABOUT["table"]),
            [tag("td", words.number(each.row[column])) for each in chosen],
        )
        for name, column in facts
    ]
    head = tag("tr", tag("th", "Measure", scope="col"), tag("th", "About", scope="col"),
               [tag("th", each.name, scope="col") for each in chosen])  # fmt: skip
    inner = tag("table", tag("caption", "Releases side by side"), tag("thead", head), tag("tbody", sizes, rows))
    return tag("div", inner, cls="scroll", tabindex=0, role="region", aria_label="Releases side by side")


def _name(row: Mapping[str, str]) -> str:
    asked = row["asked"]
    if row["measure"] == "unique_share":
        known, _, where = asked.partition(" ")
        asked = f"{naming.knowledge(known)} {where}".strip()
    elif row["measure"] == "auc":
        return f"{_NAMES['auc']} ({asked}; 50% is guessing)"
    return f"{_NAMES[row['measure']]} {asked}".strip()
