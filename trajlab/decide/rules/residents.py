"""residents: how many people live in each cell that is published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trajlab.decide import PEOPLE, SINGLING_OUT, TABLE, Finding
from trajlab.decide._published import truth_of
from trajlab.errors import PolicyError
from trajlab.query import step

if TYPE_CHECKING:
    from trajlab.lab import Lab
    from trajlab.release import Release


@dataclass(frozen=True, slots=True)
class Residents:
    """The fewest residents of a published cell: people who spend most nights there, by `share`.

    `share` is how many of all inhabitants are in the data, such as 0.3 for an operator with 30 % of them.
    """

    concern: ClassVar[str] = SINGLING_OUT
    about: ClassVar[str] = TABLE
    unit: ClassVar[str] = PEOPLE
    limit: ClassVar[str] = "at_least"

    share: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise PolicyError(f"share must be above 0 and at most 1, not {self.share:g}")

    def answer(self, lab: Lab, release: Release, limit: float, seed: int) -> Finding:
        homes = lab._store.frame(step("3_slots/_home_cell"), release_id=truth_of(lab, release))
        cells = lab._store.frame(
            "select distinct cell from counts.occupancy where release_id = $id order by cell", id=release.id
        )
        found = cells.join(homes.group_by("cell").len("residents"), on="cell", how="left")
        residents = found["residents"].fill_null(0) / self.share
        if not len(residents):
            return Finding(limit, "no cell is published, which counts as", people=0)
        few = residents < limit
        return Finding(
            float(residents.min()),  # type: ignore[arg-type]
            "the fewest residents of a published cell are",
            people=int(found.filter(few)["residents"].sum()),
            note=f"{int(few.sum()):,} of {len(cells):,} cells have fewer than {limit:,g}; they are counted by their "
            "nights in the data",
        )


RULE = Residents
