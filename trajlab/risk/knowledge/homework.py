"""`homework`: an adversary who knows the two places where a person is most often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from trajlab.errors import UnknownNameError
from trajlab.risk.knowledge._combinations import elements, search

if TYPE_CHECKING:
    from trajlab.risk.knowledge import Answer, Case, Show, Visits


@dataclass(frozen=True, slots=True)
class HomeWork:
    """The two places where a person is most often are known, not which of them is home.

    A trace fits when its two most visited places are the same; a person with one place alone is
    fitted by whoever has it among the two. Among equals the place visited first counts,
    then the cell with the smaller number.

    Anna is at A, A, B, C and B, Ben at B, A, Carl at A, C. Anna's two are A and B, and so are Ben's:
    k = 2. Carl is alone with A and C.

    scikit-mobility's HomeWorkAttack says the same and does another thing: it takes the two
    *least* visited places, among equals the southernmost, then the westernmost. `homework:least` gives its numbers.
    """

    examples: ClassVar[tuple[str, ...]] = ("homework", "homework:least")

    places: str = "most"

    def __post_init__(self) -> None:
        if self.places not in ("most", "least"):
            raise UnknownNameError("pair of places", str(self.places), ("most", "least"))

    def search(self, case: Case, show: Show) -> Answer:
        return search(case, show, lambda visits: self._places(case, visits), most=2, called="places", whole=True)

    def _places(self, case: Case, visits: Visits) -> pl.DataFrame:
        places = visits.places()
        if self.places == "most":
            return elements(places.filter(pl.col("rank") <= 2))
        located = places.join(case.map(), on="cell", how="left")
        least_first = located.sort("trace", "visits", "lat", "lng", "cell", nulls_last=True)
        return elements(least_first.group_by("trace", maintain_order=True).head(2))


KNOWLEDGE = HomeWork
