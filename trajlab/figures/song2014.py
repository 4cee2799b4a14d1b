"""Song et al., Not So Unique in the Crowd (2014): figures 2 to 4.

Its data: 633,798 people of one city for a week, 43 million records, about 1,700 antennas. Figure 1 is an example of
a trajectory and shows no result.
"""

from __future__ import annotations

from trajlab.figures._figure import Figure, Published

_NEEDS = "`trajlab risk LAB points:2` (and other numbers), and the same after `trajlab protect LAB cut:6h`"

FIGURES = [
    Figure(
        "song2014-fig2", "Uniqueness before and after cutting", "random points known", "share of unique trajectories",
        "figures.song2014_2",
        _NEEDS, kind="lines",
        published=(Published("before", 2, 0.6), Published("windows of 6h", 2, 0.4)),
    ),
    Figure(
        "song2014-fig3", "People who were at the same places at the same times", "people that share two points",
        "share of trajectories",
        "figures.song2014_3", _NEEDS,
        published=(Published("before", 1, 0.6), Published("windows of 6h", 1, 0.4)),
    ),
    Figure(
        "song2014-fig4", "The same for several windows, on logarithmic scales", "people that share two points",
        "share of trajectories",
        "figures.song2014_4", _NEEDS, kind="lines", log_x=True, log_y=True,
    ),
]  # fmt: skip
