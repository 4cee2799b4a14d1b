"""Yin et al., Re-Identification Risk versus Data Utility (PLoS ONE 2015): figures 2 to 4.

Its data: 4.57 million mobile users of Shenzhen for 34 days, 3,036 base stations. Figures 5 to 13 are about the
utility of flows (`yin2015_utility`).
"""

from __future__ import annotations

from trajlab.figures._figure import Figure, Published

_SHENZHEN = "Shenzhen"

_CROWDS, _MERGING = "figures.yin2015_2", "figures.yin2015_4"
_K = "size of the crowd, k"
_AT_MOST = "share of frequent users with K ≤ k"

_TOPS = "`trajlab risk LAB top:1 top:2 top:3`"
_MERGED = "releases with --index stations, stations:200 … stations:2800 and `trajlab risk` on each"

FIGURES = [
    Figure(
        "yin2015-fig2a", "How large a crowd top locations leave, in order", _K, _AT_MOST,
        _CROWDS, _TOPS,
        kind="lines", log_x=True,
        published=(
            Published(f"{_SHENZHEN}, top 1", 1, 0.0), Published(f"{_SHENZHEN}, top 2", 1, 0.17),
            Published(f"{_SHENZHEN}, top 3", 1, 0.49),
        ),
    ),
    Figure(
        "yin2015-fig2b", "How large a crowd top locations leave, in any order", _K, _AT_MOST,
        _CROWDS,
        "`trajlab risk LAB top:1:unordered top:2:unordered top:3:unordered`", kind="lines", log_x=True,
        published=(Published(f"{_SHENZHEN}, top 2", 1, 0.12),),
        note="The paper says nearly 5% less than with the order, which is 17%.",
    ),
    Figure(
        "yin2015-fig2c", "Top two locations and lists of variable length", _K, _AT_MOST,
        _CROWDS,
        "`trajlab risk LAB top:2 top:2:unordered top:variable top:variable:unordered`", kind="lines", log_x=True,
        published=(Published(f"{_SHENZHEN}, top 2 ordered", 1, 0.17),),
    ),
    Figure(
        "yin2015-fig3", "People singled out by points in space and time", "points known", "share of people",
        "figures.yin2015_3", "`trajlab risk LAB points:1 points:2 points:4 points:8`", kind="lines",
        published=(Published(_SHENZHEN, 4, 0.75), Published(_SHENZHEN, 8, 0.80)),
    ),
    Figure(
        "yin2015-fig4a", "Merging base stations against top locations", "stations merged within metres",
        "share of frequent users singled out",
        _MERGING, _MERGED, kind="lines", across=True,
        published=(
            Published(f"{_SHENZHEN}, top 2", 0, 0.17), Published(f"{_SHENZHEN}, top 2", 2800, 0.01),
            Published(f"{_SHENZHEN}, top 3", 0, 0.49), Published(f"{_SHENZHEN}, top 3", 2800, 0.12),
        ),
    ),
    Figure(
        "yin2015-fig4b", "Merging base stations against points", "stations merged within metres",
        "share of people singled out",
        _MERGING, _MERGED, kind="lines", across=True,
        published=(
            Published(f"{_SHENZHEN}, 4 points", 0, 0.75), Published(f"{_SHENZHEN}, 4 points", 2800, 0.40),
            Published(f"{_SHENZHEN}, 8 points", 0, 0.80), Published(f"{_SHENZHEN}, 8 points", 2800, 0.64),
        ),
    ),
]  # fmt: skip
