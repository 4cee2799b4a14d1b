"""D'Silva et al., Demystifying Trajectory Recovery From Ash (2024): figures 2, 3, 4 and 6.

Its data sets are public; `trajlab prepare` makes them. Figure 1 is a map of one, and figure 5 shows days of two
people; `lab.report(example_people=...)` shows days of people who may be shown.
"""

from __future__ import annotations

from trajlab.figures._figure import Figure, Published

_NEEDS = "`trajlab attack LAB xu2017` and `trajlab attack LAB dsilva2024`"

_SCORES = "figures.dsilva2024_2_4_6"

_ACCURACY = {
    "GeoLife 37": (0.38, 0.54),
    "GeoLife 38": (0.41, 0.47),
    "GeoLife 43": (0.37, 0.45),
    "Porto 3×3": (0.32, 0.33),
    "Porto 7×7": (0.26, 0.27),
}

FIGURES = [
    Figure(
        "dsilva2024-fig2", "Accuracy of both attacks beside two yardsticks", "attack",
        "share of slots in the right cell",
        _SCORES, _NEEDS,
        published=tuple(
            Published(data, attack, value)
            for data, values in _ACCURACY.items()
            for attack, value in zip(("xu2017", "dsilva2024"), values, strict=True)
        ),
    ),
    Figure(
        "dsilva2024-fig3", "Top-k uniqueness of truth and of what is recovered", "k most frequent places",
        "distinct sets / trajectories", "figures.dsilva2024_3", _NEEDS,
        note="The published code divides the number of distinct sets by that of trajectories; so does this figure. "
        "The text gives no numbers.",
    ),
    Figure(
        "dsilva2024-fig4", "Recovery error of both attacks beside two yardsticks", "attack", "mean error in metres",
        _SCORES, _NEEDS, shares=False,
        note="The paper gives sums over all points in a figure only.",
    ),
    Figure(
        "dsilva2024-fig6", "Levenshtein accuracy of both attacks beside two yardsticks", "attack", "1 - edits / slots",
        _SCORES, _NEEDS,
        note="The text gives no numbers, but that they are slightly higher than those of figure 2.",
    ),
]  # fmt: skip
