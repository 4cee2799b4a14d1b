"""The certificate on one sheet of A4, for the file of the data-protection officer: no script, no link to anywhere."""

from __future__ import annotations

import math
from datetime import datetime
from pathlib import Path
from typing import Any

from trajlab.certificate.body import UNBOUNDED
from trajlab.report import verdicts, words
from trajlab.report.markup import Html, join, tag

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
LONGEST = 160
"""Letters of a name or a reason that the sheet shows; the certificate has all of them."""
SIZES = (9.5, 9.0, 8.5, 8.0, 7.5, 7.0, 6.5, 6.0)
"""Sizes of type, in points: the largest with which everything fits; where none is small enough, rules go without
their sentences."""
_SHEET = 262
"""Millimetres of a sheet of A4 between its margins, less a little, since letters differ in width."""


def render(body: dict[str, Any], digest: str, file_name: str) -> str:
    """The sheet of a certificate: `digest` is that of its seal, `file_name` what the certificate is called."""
    rules = _short(body["results"])
    size = next((each for each in SIZES if _height(rules, each) <= _SHEET), None)
    if size is None:
        rules = [row | {"sentence": "", "exception": row["exception"] and "see the certificate"} for row in rules]
        size = next((each for each in SIZES if _height(rules, each) <= _SHEET), SIZES[-1])
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", f"{verdicts.answer(body['verdict'])} · trajlab"),
        tag("style", Html(Path(__file__).with_name("page.css").read_text(encoding="utf-8"))),
    )
    sheet = tag(
        "main",
        tag("p", "May this table be published?", cls="question"),
        tag("h1", verdicts.SIGNS[body["verdict"]], " ", verdicts.answer(body["verdict"]), cls=body["verdict"]),
        tag("p", _first(body), cls="first"),
        _facts(body),
        verdicts.tables(rules, heading="h2", notes=False),
        _foot(digest, file_name),
        style=f"font-size:{size}pt",
    )
    return join(Html("<!DOCTYPE html>\n"), tag("html", head, Html("\n"), tag("body", sheet), lang="en"), Html("\n"))


def facts(body: dict[str, Any]) -> dict[str, str]:
    """What was decided on, and from what, by name."""
    release, made = body["release"], body["versions"]
    starts = datetime.fromisoformat(release["starts"])
    low, high = release["total_low"], release["total_high"]
    people = words.NOTHING if low is None else words.number(low) if low == high else f"{low:,} to {high:,}"
    slots = f"{words.number(release['slots'])} of {words.span(release['slot_seconds'])}"
    return {
        "Release": f"{release['release_id']}: {words.cells(release['index_name'])}",
        "Slots": f"{slots}, from {starts:%Y-%m-%d %H:%M} ({release['tz']}), filled: {release['fill']}",
        "Protection": _protection(release["recipe"], release["min_count"]),
        "People": people,
        "Claim": release["claim"] or words.NOTHING,
        "Policy": f"{words.short(body['policy']['name'], 60)} ({body['policy']['hash'][:16]})",
        "Records": body["input"]["records_hash"],
        "Decision": f"{body['decision_id']}, seed {body['seed']}",
        "Software": ", ".join(f"{name} {made[name]}" for name in ("trajlab", "duckdb", "polars", "numpy", "python")),
    }


def _protection(recipe: str, min_count: int) -> str:
    """What was done to the counts, in words, with the recipe behind them."""
    if not recipe:
        return f"counts below {min_count} left out" if min_count > 1 else "none"
    told = []
    for text in recipe.split():
        kind, _, rest = text.partition(":")
        first, *more = rest.split(":")
        given = dict(word.split("=", 1) for word in more if "=" in word)
        said = {
            "suppress": f"counts below {first} left out" + (", and what would reveal them" if more else ""),
            "round": f"counts rounded to multiples of {first}",
            "noise": f"{first} noise on every count, ε = {given.get('eps')} per {given.get('unit')}",
            "generalise": f"cells made larger ({rest})",
            "slots": f"slots of {first}",
        }
        told.append(said.get(kind, text))
    return words.upper_first(f"{'; '.join(told)} ({recipe})")


def _first(body: dict[str, Any]) -> str:
    return f"Asked by the policy {words.short(body['policy']['name'], 60)}. {verdicts.counted(body['results'])}."


def _facts(body: dict[str, Any]) -> Html:
    shown = {name: value for name, value in facts(body).items() if value != words.NOTHING}
    return tag(
        "dl", [tag("div", tag("dt", name), tag("dd", words.short(value, LONGEST))) for name, value in shown.items()]
    )


def _short(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rules with what anybody wrote cut to what a sheet has room for, and numbers as numbers."""
    return [
        {name: math.inf if value == UNBOUNDED else value for name, value in row.items()}
        | {
            "rule": words.short(row["rule"], 40),
            "why": "",
            "sentence": words.short(verdicts.sentence(row), LONGEST),
            "exception": None if row["exception"] is None else words.short(row["exception"], LONGEST),
        }
        for row in results
    ]


def _height(rules: list[dict[str, Any]], size: float) -> float:
    """About how many millimetres the sheet takes with type of this size."""
    line, letters = 0.353 * 1.36 * size, 500 / size
    lines = 15 + 3.2 * len({verdicts.part(row) for row in rules})
    for row in rules:
        told = [text for text in (row["sentence"], row["exception"] and f"Exception: {row['exception']}") if text]
        below = sum(math.ceil(len(text) / letters) for text in told)
        lines += 1.5 + 0.9 * max(below, 1)
    return lines * line + 14


def _foot(digest: str, file_name: str) -> Html:
    return tag(
        "footer",
        tag("p", "Seal (SHA-256): ", tag("code", digest)),
        tag(
            "p",
            "This sheet says what the certificate says and proves nothing by itself. Check the certificate with ",
            tag("code", f"trajlab verify {words.short(file_name, 60)} --lab LAB"),
            ", which asks the lab again.",
        ),
        tag("div", [tag("span", each) for each in ("Name", "Date", "Signature")], cls="sign"),
    )
