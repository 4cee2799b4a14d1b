"""Counts by group: what an attack recovers and in how large a crowd people hide, group by group and together."""

from __future__ import annotations

from trajlab.report import words
from trajlab.report.contents import Contents
from trajlab.report.evidence import Show, block, table
from trajlab.report.exposure import SMALLEST_GROUP
from trajlab.report.markup import Html, join, tag

TITLE = "Counts by group"
POSITION = 58
NEEDS = (
    "counts by group have not been attacked: trajlab cube LAB home:zones --release RELEASE, then trajlab cube --help"
)
TERMS = {
    "Cube": "Counts and flows for each group of people: by home area, found from nights, or by a column of a table of "
    "people. Each group is a table of its own, of fewer people.",
    "Everybody": "The counts of the same people without groups, under the same attack, where that was run.",
}

RECOVERY = """\
from report.cube_recovery where pairing <> 'none' and people >= $smallest
qualify pairing = max(pairing) over (partition by cube_id, attack, settings, seed)
order by attribute, cube_id, attack, settings, seed, scope, people desc, value"""

RISK = """\
select attribute, knowledge, scope, value, people, unique_share, low, high, everybody_share
from report.cube_risk where people >= $smallest
order by attribute, cube_id, knowledge, basis, seed, scope, people desc, value"""

REFUSED = """\
select count(*) as refused, sum(people)::bigint as people
from report.cube_recovery where scope = 'group' and pairing = 'none'"""

_HEADS = {
    "attribute": "Divided by",
    "scope": "Of",
    "value": "Group",
    "attacked_people": "Attacked",
    "estimate": "Accuracy",
    "unique_share": "Singled out in the group",
    "everybody_share": "Among everybody",
}
_SHOWN = (
    "attribute",
    "attack",
    "scope",
    "value",
    "people",
    "attacked_people",
    "estimate",
    "low",
    "high",
    "shuffle",
    "stay",
)
_SCOPES = {"all": "all groups", "group": "one group", "release": "everybody"}


def render(contents: Contents) -> Html | None:
    parts = []
    shares = ("estimate", "low", "high", "shuffle", "stay", "unique_share", "everybody_share")
    show: Show = {"scope": lambda scope: _SCOPES[scope], **dict.fromkeys(shares, words.share)}
    for title, sql in (("Recovered from each group", RECOVERY), ("Crowds within groups", RISK)):
        answer = contents.load_answer(sql, smallest=SMALLEST_GROUP)
        if len(answer.frame):
            frame = answer.frame.select(_SHOWN) if sql == RECOVERY else answer.frame
            parts.append(block(table(title, frame, show=show, heads=_HEADS), answer))
    if not parts:
        return None
    return join(tag("p", _WHY), *parts, tag("p", _left_out(contents)))


_WHY = (
    "Publishing by group divides crowds. Each group is attacked as a table of its own, and people are looked for among "
    "the traces of their group alone, which is what somebody does who knows where they live. The rest of the page is "
    "about releases of everybody: rows about single groups are left out there."
)


def _left_out(contents: Contents) -> str:
    found = contents.load_answer(REFUSED).frame.row(0)
    text = f"Groups of fewer than {SMALLEST_GROUP} people have no line of their own here."
    if found[0]:
        text += f" {words.count(found[0], 'group')} with {words.people(found[1])} could not be attacked."
    return text
