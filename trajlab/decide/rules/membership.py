"""membership: how well an adversary tells from the table whether somebody is in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from trajlab.decide import INFERENCE, SHARE, TABLE, Finding, Unanswerable
from trajlab.decide._published import check_name, truth_of
from trajlab.errors import MembershipError, PolicyError
from trajlab.membership.question import SIZES, Question
from trajlab.settings import whole_number

if TYPE_CHECKING:
    from trajlab.lab import Lab
    from trajlab.release import Release

CHANCE = {"auc": 0.5, "auc_pooled": 0.5, "advantage": 0.0, "tpr_at_1_percent": 0.01}
"""What guessing gets."""
WORDS = {
    "auc": "shown a table with a person in it and one without, an adversary picks the right one in",
    "auc_pooled": "shown tables with somebody in them and others without, an adversary picks the right one in",
    "advantage": "who is in a table is told with an advantage over guessing of",
    "tpr_at_1_percent": "at 1 % false alarms, an adversary finds a person in",
}
TARGETS = 100


@dataclass(frozen=True, slots=True)
class Membership:
    """`measure` (auc, auc_pooled, advantage or tpr_at_1_percent) of a test whether a person is in the table.

    `adversary` and `reference` are those of `lab.membership`. Groups have `size` people, or where that is 0 the most
    of 100, 1,000 and 10,000 of which there are twice as many, or half of everybody where fewer are there.
    """

    concern: ClassVar[str] = INFERENCE
    about: ClassVar[str] = TABLE
    unit: ClassVar[str] = SHARE
    limit: ClassVar[str] = "at_most"

    measure: str = "auc"
    adversary: str = "reference"
    reference: str = ""
    size: int = 0

    def __post_init__(self) -> None:
        check_name("measure of membership", self.measure, tuple(CHANCE))
        whole_number("size", self.size, 0, error=PolicyError)
        Question(self.adversary, self.reference or None, (self.size,) if self.size else None)

    def answer(self, lab: Lab, release: Release, limit: float, seed: int) -> Finding:
        ((people,),) = lab._store.rows(
            "select count(*) from slots.person where release_id = $id and kept", id=truth_of(lab, release)
        )
        pool = people // 2 if self.reference == "people" else people
        size = self.size or (pool // 2 if pool < 2 * SIZES[0] else 0)
        targets = min(TARGETS, pool)
        try:
            found = lab.membership(
                release,
                adversary=self.adversary,
                reference=self.reference or None,
                sizes=(size,) if size else None,
                targets=targets,
                seed=seed,
            )
        except MembershipError as error:
            raise Unanswerable(str(error)) from error
        largest = found.table.filter(pl.col("measure") == self.measure).sort("group_size").row(-1, named=True)
        ((of_worst,),) = lab._store.rows(
            "select avg(auc) from (select auc from metrics.membership_score where membership_id = $id "
            "order by auc desc limit $tenth)",
            id=found.ids[-1],
            tenth=-(-targets // 10),
        )
        return Finding(
            largest["estimate"],
            WORDS[self.measure],
            largest["low"],
            largest["high"],
            CHANCE[self.measure],
            None,
            of_worst if self.measure == "auc" else None,
            note=f"of cases; guessing gets {100 * CHANCE[self.measure]:g} %; of {targets} people in groups of "
            f"{largest['group_size']:,}",
        )


RULE = Membership
