"""Points that a trace has to pass through, each a cell and a slot, drawn by lot: what points and cont share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from trajlab.errors import RiskError
from trajlab.risk.crowds import draw
from trajlab.risk.crowds.passing import Crowds, Ints, Rows
from trajlab.risk.knowledge import Answer

if TYPE_CHECKING:
    from trajlab.risk.knowledge import Case, Show, Visits

Draw = Callable[[draw.Lots, Ints, int], Ints]
SHORT = ("all", "drop")


def check(points: int, short: str) -> None:
    """Refuse settings that make no sense of any traces."""
    if points < 1:
        raise RiskError(f"points must be 1 or more, not {points}: nothing known singles nobody out")
    if short not in SHORT:
        raise RiskError(f"short is all or drop, not {short!r}: what to do with people who have fewer points")


@dataclass(frozen=True, slots=True)
class SomePoints:
    """What `search` is asked, for whoever answers it shard by shard."""

    lottery: Draw
    points: int
    short: str

    def refuse_too_many(self, most: int) -> None:
        if self.points > most:
            raise RiskError(f"{self.points:,} points cannot be known: nobody has more than {most:,} points")

    def refuse_too_many_of_targets(self, longest: int, most: int) -> None:
        if self.points > longest:
            raise RiskError(
                f"{self.points:,} points cannot be known of those looked for: look for more people "
                f"(somebody has {most:,} points)"
            )


def search(case: Case, show: Show, lottery: Draw, points: int, short: str) -> Answer:
    """Draw what is known of everybody looked for, and count the traces that fit."""
    asked = SomePoints(lottery, points, short)
    if case.divided is not None:
        return case.divided(asked)
    cells = case.share("cells", lambda: _cells(case))
    known = case.share("known rows", lambda: _read(case, case.known, cells))
    most = known.sizes.max(initial=0)
    asked.refuse_too_many(int(most))
    targets, dropped = case.targets, None
    rows = known.numbers(targets["trace"].cast(pl.Int64).to_numpy())
    sizes = np.where(rows >= 0, np.append(known.sizes, 0)[rows], 0)
    if short == "drop":
        dropped = targets["trace"].filter(sizes < points)
        targets, rows, sizes = targets.filter(sizes >= points), rows[sizes >= points], sizes[sizes >= points]
    asked.refuse_too_many_of_targets(int(sizes.max(initial=0)), int(most))
    items = known.items(rows, lottery(targets["lot"].to_numpy(), sizes, points))

    several = case.memo is not None
    crowds = case.share(
        "crowds",
        lambda: Crowds(
            known if case.same else _read(case, case.searched, cells), threads=case.threads, copy=several and case.same
        ),
    )
    k = crowds.holding_all(items, show)
    own = targets["own"].cast(pl.Int64).fill_null(-1).to_numpy()
    # On true traces a person's own is the one that the points are from.
    found = own >= 0 if case.same else crowds.includes(own, items)
    if not sizes.all():  # somebody without points could be anybody, even somebody else without points
        everybody = len(case.searched.traces())
        k, found = np.where(sizes == 0, everybody, k), np.where(sizes == 0, own >= 0, found)
    chance = np.where(found, 1 / np.maximum(k, 1), 0.0)
    people = {
        "trace": targets["trace"],
        "known": np.minimum(sizes, points),
        "k": k,
        "found": found,
        "pick_chance": chance,
    }
    return Answer(
        pl.DataFrame(people).with_columns(mean_pick_chance="pick_chance", combinations=pl.lit(1, pl.Int64)),
        name_points(targets["trace"], items, cells),
        dropped,
    )


def _cells(case: Case) -> pl.Series:
    """The cells of both sets, so that their points can be compared."""
    cells = case.known.cells()
    return cells if case.same else pl.concat([cells, case.searched.cells()]).unique().sort()


def _read(case: Case, visits: Visits, cells: pl.Series) -> Rows:
    extents = [case.known.extent()] if case.same else [case.known.extent(), case.searched.extent()]
    last, last_slot = (max(each) for each in zip(*extents, strict=True))
    bits = ((last_slot + 1) * len(cells)).bit_length()
    refuse_too_large(bits, last, last_slot, len(cells))
    return Rows.of(visits.keys(cells, bits), bits, len(cells))


def refuse_too_large(bits: int, last: int, last_slot: int, cells: int) -> None:
    """A trace and a point are one number: it must not have more than 63 bits."""
    if bits + last.bit_length() > 63:
        raise RiskError(f"{last_slot + 1:,} slots of {cells:,} cells are too many to search: take longer slots")


def name_points(traces: pl.Series, items: Ints, cells: pl.Series) -> pl.DataFrame:
    """The points of each trace, first to last, in words of slots and cells."""
    ids = cells.to_numpy()
    frames = []
    for rank, column in enumerate(items.T, start=1):
        there = column >= 0
        slot, cell = np.divmod(column[there], max(len(ids), 1))
        frames.append(
            pl.DataFrame(
                {"trace": traces.filter(there), "slot": slot.astype(np.int32), "cell": ids[cell]}
            ).with_columns(rank=pl.lit(rank, pl.Int32))
        )
    return pl.concat(frames)
