"""Who can be told to be in a published table: the game of membership, by recipe and size of groups."""

from __future__ import annotations

from trajlab.report import words
from trajlab.report.contents import Contents
from trajlab.report.drawing.bars import Bar, Groups
from trajlab.report.evidence import Answer, figure
from trajlab.report.markup import Html, join, tag

TITLE = "Who is in the table"
POSITION = 57
NEEDS = "nobody has asked who is in the table: trajlab membership LAB --release RELEASE"
TERMS = {
    "Membership": "Whether a person is among those counted. Groups are drawn with and without the person, and counted "
    "as published; the adversary says which is which by a likelihood ratio.",
    "AUC": "The chance that a table with the person looks more like one than a table without: 50% is guessing, 100% "
    "is always right.",
}
MOST = 12
"""Questions that one chart has room for."""

ASKED = """\
from report.membership where release_id = $release_id
order by adversary, recipe <> 'exact', recipe, group_size, membership_id"""

_WHY = (
    "About the published table: no trace has to leak. Being in some tables is itself a secret, such as a count of "
    "patients or of people at a gathering. Somebody who has watched a person asks whether that person is counted."
)


def render(contents: Contents) -> Html | None:
    found = [(release, contents.load_answer(ASKED, release_id=release.id)) for release in contents.releases]
    charts = [
        figure(
            f"Told to be in the table or not: {release.name}",
            _bars(answer).html(),
            answer.drop("membership_id", "release_id"),
            note="Area under the ROC curve, the mean over people looked for; thin lines are 95% intervals. 50% is "
            "guessing.",
            show=dict.fromkeys(("estimate", "low", "high"), words.share),
        )
        for release, answer in found
        if len(answer.frame)
    ]
    return join(tag("p", _WHY), *charts) if charts else None


def _bars(answer: Answer) -> Groups:
    rows = answer.frame.head(MOST).to_dicts()
    adversaries = list(dict.fromkeys(str(row["adversary"]) for row in rows))
    named = {(row["recipe"], row["group_size"]): f"{row['recipe']}, groups of {row['group_size']:,}" for row in rows}
    bars = {(row["recipe"], row["group_size"], row["adversary"]): row for row in rows}
    groups = [
        (
            name,
            [
                Bar(row["estimate"], row["low"], row["high"], {"guessing": 0.5})
                if (row := bars.get((*key, adversary)))
                else Bar(None)
                for adversary in adversaries
            ],
        )
        for key, name in named.items()
    ]
    return Groups("Area under the ROC curve of membership", adversaries, groups, ["guessing"], 1.0)
