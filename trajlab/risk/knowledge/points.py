"""Some points of a person, each a cell and a slot, drawn at random (song2014).

Three people at 8, 12 and 18 h: Ana A B A, Ben A C A, Cem A C C. Whoever knows that somebody was
in A at 8 h finds all three; in A at 8 h and in A at 18 h, two; in C at 12 h and in A at 18 h, Ben.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trajlab.risk.crowds import draw
from trajlab.risk.knowledge._points import check, search

if TYPE_CHECKING:
    from trajlab.risk.knowledge import Answer, Case, Show


@dataclass(frozen=True, slots=True)
class Points:
    """So many points of a person, drawn at random; every trace that passes through all of them fits.

    People with fewer points are known by all of theirs (short: all), or not looked for:
    they are then taken out of `metrics.target` (short: drop).
    """

    examples: ClassVar[tuple[str, ...]] = ("points:{}", "points:{}:drop")

    points: int
    short: str = "all"

    def __post_init__(self) -> None:
        check(self.points, self.short)

    def search(self, case: Case, show: Show) -> Answer:
        return search(case, show, draw.scattered, self.points, self.short)


KNOWLEDGE = Points
