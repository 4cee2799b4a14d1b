"""Adversaries who know one list of places of a person: whoever has the very same list fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from trajlab.errors import RiskError
from trajlab.risk.crowds.alike import count_alike
from trajlab.risk.knowledge import Answer

if TYPE_CHECKING:
    from trajlab.risk.knowledge import Case, Visits


@dataclass(frozen=True, slots=True)
class SameList:
    """What `search` is asked, for whoever answers it shard by shard."""

    read: Callable[[Visits], pl.DataFrame]
    name: str
    most: int | None
    ordered: bool

    def refuse_too_many(self, longest: int) -> None:
        if self.most is not None and self.most > longest:
            raise RiskError(f"nobody has {self.most} places: ask for {self.name}:{longest} or fewer")


def search(
    case: Case, read: Callable[[Visits], pl.DataFrame], name: str, most: int | None, *, ordered: bool = True
) -> Answer:
    """The answer where `read` makes the lists of visits: trace, rank from 1, cell.

    Where nobody has `most` places, what `name` says how to ask is refused; None where any number will do.
    Without `ordered` it is known which places they are and not which is which. Whoever has no visit could be anybody.
    """
    asked = SameList(read, name, most, ordered)
    if case.divided is not None:
        return case.divided(asked)
    known = read(case.known).select("rank", holder="trace", key="cell")
    asked.refuse_too_many(int(known["rank"].to_numpy().max(initial=0)))
    searched = known if case.same else read(case.searched).select("rank", holder="trace", key="cell")
    wanted = case.targets.select("own", holder="trace")
    found = count_alike(known, searched, wanted, len(case.searched.traces()), ordered=ordered)
    chance = pl.when("found").then(1 / pl.col("k")).otherwise(0.0)
    people = found.with_columns(
        case.targets["trace"], pick_chance=chance, mean_pick_chance=chance, combinations=pl.lit(1, pl.Int64)
    )
    points = known.join(wanted, on="holder", how="semi")
    return Answer(people, points.select("rank", trace="holder", slot=pl.lit(None, pl.Int32), cell="key"))
