"""`time:K:hour`: an adversary who knows K visits of a person, the place and the hour, day, month or year."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trajlab.errors import UnknownNameError
from trajlab.risk.crowds import combining

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.risk.knowledge import Question
    from trajlab.store import Store

RESOLUTIONS = ("hour", "day", "month", "year")

ELEMENTS = """
    select
        visit.trace,
        0 as slot,
        visit.cell,
        floor(epoch(date_trunc($resolution, slot.starts)))::bigint as label,
        sum(visit.visits)::bigint as n,
        null::double as value
    from slots.visit as visit
    join slots.slot as slot on slot.release_id = $release_id and slot.slot = visit.slot
    where visit.traces_id = $id
    group by visit.trace, visit.cell, label
"""


@dataclass(frozen=True, slots=True)
class Time:
    """K visits of a person are known, the place and the hour (or day, month, year) of each.

    A trace fits when it has at least as many visits to each place within each hour. The hour
    is that of the date, in local time, in which the slot begins: slots longer than the resolution
    leave no more than the slot. The worst K visits count for a person
    (scikit-mobility's LocationTimeAttack; its "Hour" is in fact the day, its issue 265; here it is the hour).

    Anna was at A at 8 and at B at 9, Ben at A at 8 and at B at 10, Carl at A at 9. One visit
    known by the hour: A at 8 fits Anna and Ben, B at 9 Anna alone: k = 1 for each of the three. By
    the day A fits all of them and B two: k = 2 for Anna and Ben, 3 for Carl.

    `limit` is how many different combinations a person may have for the mean to be given.
    """

    visits: int
    resolution: str = "hour"
    limit: int = combining.LIMIT

    def __post_init__(self) -> None:
        combining.check(self.visits, self.limit)
        if self.resolution not in RESOLUTIONS:
            raise UnknownNameError("resolution", str(self.resolution), RESOLUTIONS)

    def search(self, store: Store, ask: Question, progress: Progress) -> None:
        combining.search(
            store,
            ask,
            progress,
            ELEMENTS,
            most=self.visits,
            limit=self.limit,
            resolution=self.resolution,
            release_id=ask.release_id,
        )


KNOWLEDGE = Time
