"""What the page opens with: may the table be published? The decisions that the lab holds, or how to ask for one."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from trajlab.report import verdicts, words
from trajlab.report.contents import Contents
from trajlab.report.evidence import block, table
from trajlab.report.exposure import SMALLEST_GROUP
from trajlab.report.markup import Html, join, tag
from trajlab.report.page import tabs

QUESTION = "May this table be published?"
MOST = 6
"""Decisions that get a panel; the lab has all of them."""
DECISIONS = "select distinct release_id, policy, decision_id, whole from report.verdict order by all"
RULES = "from report.verdict where decision_id = $decision_id order by position"
GROUPS = """\
from metrics.verdict_by_group
where decision_id = $decision_id and people >= $smallest
order by position, trait, estimate desc, value"""


def render(contents: Contents) -> Html:
    """A panel for each decision, in the order of the releases; where there is none, the command that asks for one."""
    order = {release.id: place for place, release in enumerate(contents.releases)}
    found = contents.load_answer(DECISIONS).frame
    decisions = sorted(
        (row for row in found.iter_rows(named=True) if row["release_id"] in order),
        key=lambda row: (order[row["release_id"]], row["policy"], row["decision_id"]),
    )
    if not decisions:
        return tag("div", tag("h2", QUESTION), _ask(contents), cls="block decision")
    several = len({row["release_id"] for row in decisions}) > 1
    panels = [(_name(contents, row, several=several), _panel(contents, row)) for row in decisions]
    return join(tabs("decisions", panels, choose="Choose a decision", most=MOST), _undecided(contents, decisions))


def _ask(contents: Contents) -> Html:
    which = f" --release {contents.releases[0].id}" if len(contents.releases) > 1 else ""
    commands = f"trajlab decide lab.duckdb{which} --policy strict\ntrajlab report lab.duckdb -o report.html"
    return join(
        tag(
            "p",
            "Nobody has asked yet. A policy asks the same questions of every release, so that the answer does not "
            "depend on which adversary somebody thought of; ",
            tag("code", "trajlab policy --list"),
            " shows those that come with trajlab.",
        ),
        tag("pre", tag("code", commands), tabindex=0),
    )


def _name(contents: Contents, row: dict[str, str], *, several: bool) -> str:
    sign = verdicts.SIGNS[row["whole"]]
    policy = words.short(row["policy"], 40)
    return f"{sign} {contents.name_of(row['release_id'])} · {policy}" if several else f"{sign} {policy}"


def _panel(contents: Contents, row: dict[str, str]) -> Html:
    answer = contents.load_answer(RULES, decision_id=row["decision_id"])
    rules = answer.frame.rows(named=True)
    whole = row["whole"]
    sign = tag("span", verdicts.SIGNS[whole], aria_hidden="true")
    shown = join(
        tag("h2", QUESTION),
        tag("p", sign, " ", verdicts.answer(whole), cls=f"whole {whole}"),
        tag(
            "p",
            tag("strong", contents.name_of(row["release_id"])), ", asked by the policy ", tag("strong", row["policy"]),
            f". {verdicts.counted(rules)}. The policy asks the same of every release.", cls="lede",
        ),
        verdicts.tables(rules),
        _groups(contents, row["decision_id"], rules),
    )  # fmt: skip
    return tag("div", block(shown, answer), cls="decision")


def _groups(contents: Contents, decision_id: str, rules: list[dict[str, object]]) -> Html | None:
    """Whom a rule concerns more than others, where groups of people are known and large enough to be told of."""
    answer = contents.load_answer(GROUPS, decision_id=decision_id, smallest=SMALLEST_GROUP)
    if not len(answer.frame):
        return None
    by_position = {row["position"]: row for row in rules}
    said = [
        verdicts.quantity(row["estimate"], str(by_position[row["position"]]["unit"]))
        for row in answer.frame.iter_rows(named=True)
    ]
    named = answer.frame.select(
        pl.col("position").replace_strict({n: verdicts.name(row) for n, row in by_position.items()}).alias("rule"),
        "trait",
        "value",
        "people",
        pl.Series("number", said),
    )
    caption = f"The same by group of at least {SMALLEST_GROUP} people"
    return tag("details", tag("summary", "By group of people"), table(caption, replace(answer, frame=named).frame))


def _undecided(contents: Contents, decisions: list[dict[str, str]]) -> Html | None:
    """Releases about which nobody asked."""
    known = {row["release_id"] for row in decisions}
    left = [release.name for release in contents.releases if release.id not in known]
    if not left:
        return None
    shown = [words.lower_first(name) for name in left[:3]]
    more = [f"{words.number(len(left) - 3)} more"] if len(left) > 3 else []
    return tag("p", f"Nobody has asked yet about {words.join_list([*shown, *more])}.", cls="note undecided")
