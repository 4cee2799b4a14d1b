"""Some points of a person, each a cell and a slot, drawn at random (song2014).

Three people at 8, 12 and 18 h: Ana A B A, Ben A C A, Cem A C C. Whoever knows that somebody was
in A at 8 h finds all three; in A at 8 h and in A at 18 h, two; in C at 12 h and in A at 18 h, Ben.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from trajlab.errors import RiskError
from trajlab.risk.crowds import draw
from trajlab.risk.crowds.passing import Crowds, Ints, read

if TYPE_CHECKING:
    from collections.abc import Callable

    from trajlab.progress import Progress
    from trajlab.risk.knowledge import Question
    from trajlab.store import Store

    Draw = Callable[[draw.Lots, Ints, int], Ints]

SHORT = ("all", "drop")


@dataclass(frozen=True, slots=True)
class Points:
    """So many points of a person, drawn at random; every trace that passes through all of them fits.

    People with fewer points are known by all of theirs (short: all), or not looked for:
    they are then taken out of `metrics.target` (short: drop).
    """

    points: int
    short: str = "all"

    def __post_init__(self) -> None:
        refuse(self.points, self.short)

    def search(self, store: Store, ask: Question, progress: Progress) -> None:
        search(store, ask, draw.scattered, self.points, self.short, progress)


def refuse(points: int, short: str) -> None:
    """Settings that make no sense of any traces."""
    if points < 1:
        raise RiskError(f"points must be 1 or more, not {points}: nothing known singles nobody out")
    if short not in SHORT:
        raise RiskError(f"short is all or drop, not {short!r}: what to do with people who have fewer points")


def search(store: Store, ask: Question, drawn: Draw, points: int, short: str, progress: Progress) -> None:
    """Draw what is known of everybody in `metrics.target`, and count the traces that fit."""
    known = read(store, ask.known_id, ask.searched_id)
    most = known.sizes.max(initial=0)
    if points > most:
        raise RiskError(f"{points:,} points cannot be known: nobody has more than {most:,} points")
    if short == "drop":
        _drop(store, ask, points)
    targets = store.frame(
        "select trace, own, lot from metrics.target where risk_id = $id order by trace", id=ask.risk_id
    )
    rows = known.rows(targets["trace"].cast(pl.Int64).to_numpy())
    sizes = np.where(rows >= 0, np.append(known.sizes, 0)[rows], 0)
    if points > sizes.max(initial=0):
        raise RiskError(
            f"{points:,} points cannot be known of those looked for: look for more people "
            f"(somebody has {most:,} points)"
        )
    numbers = drawn(targets["lot"].to_numpy(), sizes, points)
    told = known.points(rows, numbers)
    _write_points(store, ask, targets["trace"], told, known.cells)

    searched = known if ask.searched_id == ask.known_id else read(store, ask.searched_id, ask.known_id)
    ((threads,),) = store.rows("select current_setting('threads')")
    crowds = Crowds(searched, threads=int(threads))
    k = crowds.through_all(told, progress)
    own = targets["own"].cast(pl.Int64).fill_null(-1).to_numpy()
    # On true traces a person's own is the one that the points are from.
    found = own >= 0 if searched is known else crowds.includes(own, told)
    if not sizes.all():  # somebody without points could be anybody, even somebody else without points
        ((everybody,),) = store.rows("select count(*) from slots.trace where traces_id = $id", id=ask.searched_id)
        k, found = np.where(sizes == 0, everybody, k), np.where(sizes == 0, own >= 0, found)
    risk = np.where(found, 1 / np.maximum(k, 1), 0.0)
    answer = {"trace": targets["trace"], "known": np.minimum(sizes, points), "k": k, "found": found, "risk": risk}
    store.insert(
        "metrics.anonymity",
        pl.DataFrame(answer).with_columns(
            risk_id=pl.lit(ask.risk_id), mean_risk="risk", combinations=pl.lit(1, pl.Int64)
        ),
    )


def _drop(store: Store, ask: Question, points: int) -> None:
    store.con.execute(
        """
        delete from metrics.target
        where
            risk_id = $risk_id
            and trace not in (
                select trace from slots.visit where traces_id = $known_id group by trace having count(*) >= $points
            )
        """,
        {"risk_id": ask.risk_id, "known_id": ask.known_id, "points": points},
    )


def _write_points(store: Store, ask: Question, traces: pl.Series, told: Ints, cells: draw.Lots) -> None:
    for rank, column in enumerate(told.T, start=1):
        some = column >= 0
        slot, cell = np.divmod(column[some], max(len(cells), 1))
        points = {"trace": traces.filter(some), "slot": slot, "cell": cells[cell]}
        store.insert(
            "metrics.known_point",
            pl.DataFrame(points).with_columns(risk_id=pl.lit(ask.risk_id), rank=pl.lit(rank, pl.Int32)),
        )


KNOWLEDGE = Points
