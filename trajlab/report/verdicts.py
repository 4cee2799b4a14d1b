"""A decision as a reader sees it: the answer, and the rules behind it, number by number.

What the published table gives away stands apart from what the traces behind it would, and both from what the table
is still good for. The report and the certificate show the same rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from trajlab.report import words
from trajlab.report.markup import Child, Html, join, tag

Row = Mapping[str, Any]

ANSWERS = {"pass": "Publish", "fail": "Do not publish", "review": "To be reviewed"}
SIGNS = {"pass": "✓", "fail": "✕", "review": "?"}
PARTS = {
    "table": "What this table gives away",
    "traces": "What the traces behind it would give away",
    "utility": "What the table is still good for",
}
_HEADS = ("Rule", "Number", "Limit", "Without skill", "Whom it concerns", "Answer")
_NOTES = {
    "table": "Asked of the counts as they would be published: whoever downloads them has no more.",
    "traces": "Asked of records that stay in the house: they would have to leak first.",
    "utility": "A table that is safe because nothing is left in it need not be published.",
}


def part(row: Row) -> str:
    """Which of the parts a rule belongs to."""
    if row["concern"] == "utility":
        return "utility"
    return str(row["about"])


def answer(verdict: str) -> str:
    return ANSWERS.get(verdict, verdict)


def name(row: Row) -> str:
    return words.upper_first(str(row["rule"]).replace("_", " "))


def counted(rows: Sequence[Row]) -> str:
    """How many rules there are, and how many say what: 7 rules: 5 pass, 1 fails, 1 is to be reviewed."""
    many = {name: sum(row["verdict"] == name for row in rows) for name in ANSWERS}
    said = [
        f"{many['pass']} {'passes' if many['pass'] == 1 else 'pass'}" if many["pass"] else "",
        f"{many['fail']} {'fails' if many['fail'] == 1 else 'fail'}" if many["fail"] else "",
        f"{many['review']} {'is' if many['review'] == 1 else 'are'} to be reviewed" if many["review"] else "",
    ]
    excepted = sum(row["exception"] is not None for row in rows)
    more = f"; {words.count(excepted, 'exception')} with a written reason" if excepted else ""
    return f"{words.count(len(rows), 'rule')}: {words.join_list([each for each in said if each])}{more}"


def quantity(value: float | None, unit: str) -> str:
    """A number of a rule in its unit; shares as percentages."""
    if value is None:
        return words.NOTHING
    if math.isinf(value):
        return "without bound"
    if unit == "share":
        return words.share(value)
    return words.number(value)


def interval(row: Row) -> str:
    if row["low"] is None or row["high"] is None or row["low"] == row["high"]:
        return ""
    return f"{quantity(row['low'], row['unit'])} to {quantity(row['high'], row['unit'])}"


def limit(row: Row) -> str:
    """On which side of what the number must be."""
    if row["lower_limit"] is not None:
        return f"at least {quantity(row['lower_limit'], row['unit'])}"
    return f"at most {quantity(row['upper_limit'], row['unit'])}"


def sentence(row: Row) -> str:
    """The finding in words, without the limit: it stands in a column of its own."""
    return str(row["sentence"]).partition("; the limit is ")[0]


def tables(rows: Sequence[Row], *, heading: str = "h3", notes: bool = True) -> Html:
    """One table for each part that has a rule, in the order of the policy."""
    found: dict[str, list[Row]] = {name: [row for row in rows if part(row) == name] for name in PARTS}
    return join(
        tag(
            "div",
            tag(heading, PARTS[name]),
            tag("p", _NOTES[name], cls="note") if notes else None,
            _table(PARTS[name], inside),
            cls="verdicts",
        )
        for name, inside in found.items()
        if inside
    )


def _table(caption: str, rows: Sequence[Row]) -> Html:
    return tag(
        "div",
        tag(
            "table",
            tag("thead", tag("tr", [tag("th", head, scope="col") for head in _HEADS])),
            tag("tbody", [_line(row) for row in rows]),
        ),
        cls="scroll",
        tabindex=0,
        role="region",
        aria_label=caption,
    )


def _line(row: Row) -> Html:
    within = interval(row)
    number = quantity(row["estimate"], row["unit"])
    people = " person" if row["estimate"] == 1 else " people"
    unit = {"people": people, "epsilon": " (ε)"}.get(row["unit"], "") if row["estimate"] is not None else ""
    cells: tuple[list[Child], ...] = (
        [tag("b", number), unit, tag("span", within, cls="within") if within else None],
        [limit(row)],
        [quantity(row["yardstick"], row["unit"])],
        _concerned(row),
        [badge(row["verdict"])],
    )
    return tag(
        "tr",
        tag(
            "th",
            tag("strong", name(row)),
            tag("span", row["concern"], cls="concern") if row["concern"] != "utility" else None,
            tag("span", sentence(row), cls="sentence") if row["sentence"] else None,
            tag("span", "Why: ", row["why"], cls="why") if row["why"] else None,
            tag("span", "Exception: ", row["exception"], cls="exception") if row["exception"] is not None else None,
            scope="row",
        ),
        [tag("td", *cell, data_label=head) for head, cell in zip(_HEADS[1:], cells, strict=True)],
    )


def badge(verdict: str) -> Html:
    """The answer of a rule: a word and a sign, so that it is not the colour alone that tells."""
    return tag("span", tag("span", SIGNS.get(verdict, ""), aria_hidden="true"), " ", verdict, cls=f"badge {verdict}")


def _concerned(row: Row) -> list[Child]:
    who = words.NOTHING if row["people"] is None else words.people(row["people"])
    worst = row["worst_decile"]
    told = None if worst is None else tag("span", f"worst tenth {quantity(worst, row['unit'])}", cls="within")
    return [who, told]
