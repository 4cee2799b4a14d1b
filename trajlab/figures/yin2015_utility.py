"""Yin et al., Re-Identification Risk versus Data Utility (PLoS ONE 2015): figures 5 to 13, on the utility of flows.

The paper gives no loss in words: only that every curve of figures 6 to 13 is loss = -a risk^b + c, with R² above
0.99, and how b grows with what is known.
"""

from __future__ import annotations

import itertools

from trajlab.figures._figure import Figure

_NEEDS = "`trajlab study tradeoff LAB`"
_TWO = "`trajlab study tradeoff LAB --zones` with two sets of zones"
_SIZES = {
    "a": ("raw", "the larger zones", _NEEDS),
    "b": ("raw", "the smaller zones", _TWO),
    "c": ("constrained", "the larger zones", _NEEDS),
    "d": ("constrained", "the smaller zones", _TWO),
}
_KNOWN = {"a": "the top two places", "b": "the top three places", "c": "four points", "d": "eight points"}
_MEASURES = ("all flows", "the largest flows", "flows that stand out", "flows of busy zones")
_FLOWS = {"raw": "raw movements", "constrained": "movements constrained in time"}

FIGURES = [
    Figure(
        f"yin2015-fig5{panel}", f"Loss by the size of cells: {_FLOWS[flows]}, {zones}", "size of cells, metres",
        "loss of utility", "figures.yin2015_5", needs, kind="lines",
        note="Loss need not grow with every step: where the borders of cells lie counts, not their size alone.",
    )
    for panel, (flows, zones, needs) in _SIZES.items()
] + [
    Figure(
        f"yin2015-fig{number}{panel}", f"Loss of {measure} against risk by {known}", "share of people singled out",
        "loss of utility", "figures.yin2015_6_to_13", _NEEDS, kind="lines", share_x=True, curve=", fitted",
        note=f"{flows.capitalize()}. The paper's curves have R² above 0.99.",
    )
    for number, (flows, measure) in enumerate(itertools.product(_FLOWS.values(), _MEASURES), start=6)
    for panel, known in _KNOWN.items()
]  # fmt: skip
