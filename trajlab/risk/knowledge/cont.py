"""Consecutive points of a person, starting at random (song2014): somebody followed them for a while.

Three people at 8, 12 and 18 h: Ana A B A, Ben A C A, Cem A C C. Whoever saw somebody in A at 8 h
and then in C at 12 h finds Ben and Cem; in C at 12 h and then in A at 18 h, Ben alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trajlab.risk.crowds import draw
from trajlab.risk.knowledge._points import check, search

if TYPE_CHECKING:
    from trajlab.risk.knowledge import Answer, Case, Show


@dataclass(frozen=True, slots=True)
class Consecutive:
    """So many consecutive points of a person, from one drawn at random onwards; see points for who fits.

    Consecutive in the order of slot, then cell, whatever time lies between. Near the end of
    a trace the stretch also grows backward, so that every longer one holds every shorter one.
    People with fewer points are known by all of theirs (short: all), or not looked for (short: drop).
    """

    examples: ClassVar[tuple[str, ...]] = ("cont:{}", "cont:{}:drop")

    points: int
    short: str = "all"

    def __post_init__(self) -> None:
        check(self.points, self.short)

    def search(self, case: Case, show: Show) -> Answer:
        return search(case, show, draw.stretch, self.points, self.short)


KNOWLEDGE = Consecutive
