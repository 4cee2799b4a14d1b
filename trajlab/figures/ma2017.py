"""Ma et al., You Can Hide, But Your Periodic Schedule Can't (2017): figures 1, 3 and 4.

Its data: 10,126 students of Tsinghua University, 16 weeks of Wi-Fi in 111 buildings. Figure 2 is an example of an
attack and shows no result.
"""

from __future__ import annotations

from trajlab.figures._figure import Figure, Published

_CAMPUS = "Tsinghua"
_NEEDS = "`trajlab schedule LAB TIMETABLE`"

_RATES = "figures.ma2017_4"
_PEOPLE = "share of people with at most so much"

FIGURES = [
    Figure(
        "ma2017-fig1", "When people come to places and leave them", "hour of a weekday",
        "people in a quarter of an hour", "figures.ma2017_1", "`trajlab schedule LAB found`", kind="lines",
        shares=False,
        note="All places of the release, Monday to Friday, summed over all weeks.",
    ),
    Figure(
        "ma2017-fig3", "How large a crowd a few points leave", "size of the crowd, k", "share of people with K ≤ k",
        "figures.ma2017_3", _NEEDS, kind="lines", log_x=True, published=(Published(_CAMPUS, 1, 0.56),),
    ),
    Figure(
        "ma2017-fig4a", "The largest chance to meet a crowd in a slot", "attack probability, prob-m", _PEOPLE,
        _RATES, _NEEDS, kind="lines", published=(Published(_CAMPUS, 0.8, 0.86),),
        note="The paper is about crowds of 4 or more; its mean is 0.65.",
    ),
    Figure(
        "ma2017-fig4b", "Slots that can be guessed, and slots with a habit", "share of slots", _PEOPLE,
        _RATES, _NEEDS, kind="lines",
    ),
    Figure(
        "ma2017-fig4c", "How many of their habits can be guessed", "slots that can be guessed, of those with a habit",
        _PEOPLE, _RATES, _NEEDS, kind="lines",
        published=(Published(_CAMPUS, 0.0, 0.16), Published(_CAMPUS, 0.99, 0.72)),
        note="In the paper 28% of schedules are totally and 56% partly disclosed in crowds of 4 or more: 72% of people "
        "are below 1, and 16% at 0.",
    ),
]  # fmt: skip
