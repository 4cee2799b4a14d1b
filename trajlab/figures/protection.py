"""What protection of counts takes away from an attack: accuracy over k, the step of rounding, and ε."""

from __future__ import annotations

from trajlab.figures._figure import Figure

_NEEDS = "`trajlab study LAB --protect none {}`"
_NOTE = "About the published table: the attack knows how it was protected. No paper gives these numbers."

FIGURES = [
    Figure(
        "protection-suppress", "Accuracy of attacks where counts below k are left out", "k",
        "share of slots in the right cell", "figures.protection", _NEEDS.format("suppress:5 suppress:10"),
        kind="lines", note=_NOTE,
    ),
    Figure(
        "protection-round", "Accuracy of attacks on rounded counts", "rounded to multiples of",
        "share of slots in the right cell",
        "figures.protection", _NEEDS.format("round:5 round:10"), kind="lines", log_x=True, note=_NOTE,
    ),
    Figure(
        "protection-noise", "Accuracy of attacks on noisy counts", "ε", "share of slots in the right cell",
        "figures.protection", _NEEDS.format("noise:geometric:eps=1:unit=person-day"), kind="lines", log_x=True,
        note=_NOTE,
    ),
]  # fmt: skip
