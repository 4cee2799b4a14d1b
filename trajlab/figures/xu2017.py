"""Xu et al., Trajectory Recovery From Ash (WWW 2017): figures 2 to 11.

Its two data sets are not public: an operator's (100,000 people, one week) and an application's (15,500 people,
two weeks). Published numbers are those of its text. Figure 1 shows raw traces of five people and is not
drawn here; `lab.report(example_people=...)` shows days of people who may be shown.
"""

from __future__ import annotations

from trajlab.figures._figure import Figure, Published

_FEASIBILITY = "`trajlab feasibility`"
_ATTACK = "`trajlab attack LAB xu2017`"
_OPERATOR, _APPLICATION = "operator data", "application data"

_FACTORS = {
    9: ("The impact of the size of cells", "cells", (), ()),
    10: (
        "The impact of the length of slots", "minutes",
        (Published(_OPERATOR, 30, 0.73), Published(_OPERATOR, 180, 0.82)),
        (Published(f"{_OPERATOR}, top 2", 30, 0.95), Published(f"{_OPERATOR}, top 2", 180, 0.98)),
    ),
    11: (
        "The impact of the number of people", "people",
        (Published(_OPERATOR, 1000, 0.99), Published(_OPERATOR, 100_000, 0.5)), (),
    ),
}  # fmt: skip


def _factor(number: int) -> list[Figure]:
    title, x, accuracies, uniques = _FACTORS[number]
    relation, needs = "figures.xu2017_9_to_11", "`trajlab study` over several values"
    about = "Published numbers are those of stage #3." if accuracies else ""
    if number == 9:
        about = "The paper: 73% for sectors of base stations, 89% for districts, which no index here is equal to."
    return [
        Figure(
            f"xu2017-fig{number}a", f"{title}: accuracy", x, "share of slots in the right cell", relation, needs,
            across=True, published=accuracies, note=about,
        ),
        Figure(
            f"xu2017-fig{number}b", f"{title}: uniqueness of what is recovered", x, "share of tracks that are unique",
            relation, needs, across=True, published=uniques,
        ),
    ]  # fmt: skip


FIGURES = [
    Figure(
        "xu2017-fig2", "Records in each person's most frequent places", "most frequent places", "share of records",
        "figures.xu2017_2", _FEASIBILITY,
        published=(Published(_OPERATOR, 1, 0.36), Published(_OPERATOR, 5, 0.83), Published(_APPLICATION, 1, 0.76)),
    ),
    Figure(
        "xu2017-fig3", "People told from all others by a few points", "points known", "share of people",
        "figures.xu2017_3", _FEASIBILITY,
        published=(Published(f"{_OPERATOR}, Top-K", 3, 0.67), Published(f"{_OPERATOR}, Top-K", 5, 0.95)),
        note="The paper says above 95% for Top-5.",
    ),
    Figure(
        "xu2017-fig4", "Number of places in a night", "places from midnight to six", "share of nights",
        "figures.xu2017_4", _FEASIBILITY,
        published=(Published(_OPERATOR, 1, 0.62), Published(_APPLICATION, 1, 0.88)),
        note="The paper counts people; here each night of a person counts, as the attack sees it.",
    ),
    Figure(
        "xu2017-fig5", "Time in the most frequent places of the night", "most frequent places",
        "share of the night",
        "figures.xu2017_5", _FEASIBILITY,
        published=(Published(_OPERATOR, 1, 0.89), Published(_APPLICATION, 1, 0.95)),
    ),
    Figure(
        "xu2017-fig6", "Error of guessing the next place by day", "error in metres", "share of guesses, cumulative",
        "figures.xu2017_6", _FEASIBILITY, kind="lines",
        published=(Published(_OPERATOR, 1000, 0.74), Published(_APPLICATION, 500, 0.93)),
    ),
    Figure(
        "xu2017-fig7", "Information gain between two days", "information gain in bits", "share of pairs of days",
        "figures.xu2017_7", _FEASIBILITY, kind="lines",
        note="The paper gives no numbers: close to 0 for one person, close to 1 for two.",
    ),
    Figure(
        "xu2017-fig8a", "Accuracy after each stage of the recovery", "stage", "share of slots in the right cell",
        "figures.xu2017_8a", _ATTACK,
        published=(
            Published(_OPERATOR, "#1 nights", 0.95), Published(_OPERATOR, "#3 everything", 0.73),
            Published(_APPLICATION, "#1 nights", 0.98), Published(_APPLICATION, "#3 everything", 0.91),
        ),
        note="Greedy pairing where it was run, as in the paper.",
    ),
    Figure(
        "xu2017-fig8b", "Recovery error", "error in metres", "share of points, cumulative",
        "figures.xu2017_8b", _ATTACK, kind="lines", log_x=True,
        published=(
            Published(_OPERATOR, 0, 0.73), Published(_OPERATOR, 1000, 0.79),
            Published(_APPLICATION, 0, 0.91), Published(_APPLICATION, 1000, 0.92),
        ),
    ),
    Figure(
        "xu2017-fig8c", "Uniqueness of recovered trajectories", "most frequent places known",
        "share that nobody else shares",
        "figures.xu2017_8c", _ATTACK,
        published=(Published("both data sets", 2, 0.95),),
        note="The paper says over 95% for the two most frequent locations.",
    ),
    *_factor(9), *_factor(10), *_factor(11),
]  # fmt: skip
