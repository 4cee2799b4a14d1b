"""What protection of counts takes away from attacks, beside the same attacks on the counts as they are."""

from __future__ import annotations

import polars as pl

from trajlab.report import words
from trajlab.report.contents import Contents
from trajlab.report.drawing.bars import Bar, Groups
from trajlab.report.evidence import figure
from trajlab.report.markup import Html, join, tag

TITLE = "What protection takes away"
POSITION = 55
NEEDS = (
    "no attack has run on protected and unprotected counts of these cells: trajlab study LAB --protect none suppress:5"
)
TERMS = {
    "Protected counts": "Counts that went through a recipe before they were published: small ones left out "
    "(suppress:k), rounded (round:b), or with noise for a stated ε. Whoever attacks knows the recipe.",
}
MOST = 12
"""Recipes that one chart has room for."""

RUNS = """\
from report.protection
where unprotected_id = $release_id and attack not in ('stay', 'shuffle')
order by recipe <> '', protection, strength, recipe, attack, seed, run_id"""

_WHY = (
    "About the published table: no trace has to leak. The attack knows how the counts were protected, and for each "
    "count what it can still be."
)


def render(contents: Contents) -> Html | None:
    answers = [contents.load_answer(RUNS, release_id=release.id) for release in contents.releases]
    charts = [
        figure(
            f"Recovered in spite of protection: {release.name}",
            _bars(answer.frame).html(),
            answer.select("recipe", "attack", "seed", "estimate", "low", "high", "shuffle", "stay", "unprotected"),
            note="Share of slots in which a recovered track is in the right cell; thin lines are 95% intervals over "
            "people. Counts as they are come first.",
            show=dict.fromkeys(("estimate", "low", "high", "shuffle", "stay", "unprotected"), words.share),
        )
        for release, answer in zip(contents.releases, answers, strict=True)
        if (answer.frame["recipe"] != "").any()
    ]
    return join(tag("p", _WHY), *charts) if charts else None


def _bars(rows: pl.DataFrame) -> Groups:
    attacks = rows["attack"].unique(maintain_order=True).sort().to_list()
    recipes = rows["recipe"].unique(maintain_order=True).to_list()[:MOST]
    first = rows.unique(["recipe", "attack"], keep="first", maintain_order=True)
    found = {(row["recipe"], row["attack"]): row for row in first.iter_rows(named=True)}
    marks = {"nobody moves": "stay", "slots joined at random": "shuffle"}
    groups = [
        (
            recipe or "as they are",
            [
                Bar(row["estimate"], row["low"], row["high"], {name: row[column] for name, column in marks.items()})
                if (row := found.get((recipe, attack)))
                else Bar(None)
                for attack in attacks
            ],
        )
        for recipe in recipes
    ]
    return Groups("Accuracy of attacks by what protects the counts", attacks, groups, list(marks))
