"""`homework`: an adversary who knows the two places where a person is most often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trajlab.errors import UnknownNameError
from trajlab.risk.crowds import combining

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.risk.knowledge import Question
    from trajlab.store import Store

ELEMENTS = """
    with visited as (
        select trace, cell, sum(visits) as visits, min(slot) as first_slot
        from slots.visit
        where traces_id = $id
        group by trace, cell
    ),

    located as (
        select visited.trace, visited.cell, visited.visits, visited.first_slot, cell.lat, cell.lng
        from visited
        left join grid.cell as cell
            on cell.cell = visited.cell
            and cell.index_id = (select index_id from counts.release where release_id = $release_id)
    ),

    ranked as (
        select
            trace,
            cell,
            row_number() over (partition by trace order by visits desc, first_slot, cell) as most,
            row_number() over (partition by trace order by visits, lat, lng, cell) as least
        from located
    )

    select trace, 0 as slot, cell, 0::bigint as label, 1::bigint as n, null::double as value
    from ranked
    where case when $places = 'most' then most else least end <= 2
"""


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

    places: str = "most"

    def __post_init__(self) -> None:
        if self.places not in ("most", "least"):
            raise UnknownNameError("pair of places", str(self.places), ("most", "least"))

    def search(self, store: Store, ask: Question, progress: Progress) -> None:
        combining.search(
            store,
            ask,
            progress,
            ELEMENTS,
            most=2,
            called="places",
            whole=True,
            places=self.places,
            release_id=ask.release_id,
        )


KNOWLEDGE = HomeWork
