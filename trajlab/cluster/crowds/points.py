"""Points that a trace passes through: drawn on the shard of the person, looked for on every shard, summed at home.

How many traces fit is a sum over shards, so everything known of everybody is read once by each task. Most of it is
of no use there, a point that nobody of the shard passed through, and costs one look.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from trajlab.cluster.crowds import Asked, Run, Seen
from trajlab.cluster.exchange import TO
from trajlab.errors import ContractError
from trajlab.risk.crowds.passing import Crowds, Rows
from trajlab.risk.knowledge import Answer
from trajlab.risk.knowledge._points import name_points, refuse_too_large

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trajlab.cluster.shard import ShardStore
    from trajlab.risk.knowledge import Case
    from trajlab.risk.knowledge._points import SomePoints

AT_ONCE = 1_000_000
"""People looked for together: their points are in memory."""


def jobs(asked: Asked, run: Run, first: Sequence[Seen]) -> Finish:
    most = max(seen.most for seen in first)
    first[0].question.refuse_too_many(most)
    first[0].question.refuse_too_many_of_targets(max(seen.longest for seen in first), most)
    together = _together([seen.targets for seen in first])
    run(Count(asked, together), "counting traces that pass through the points")
    return Finish(asked, together, sum(seen.traces for seen in first))


def begin(asked: Asked, shard: int, store: ShardStore, case: Case, question: SomePoints) -> Seen:
    """Draw what is known of everybody looked for in the shard."""
    rows = _rows(store, asked, case)
    targets = case.targets
    of = rows.numbers(targets["trace"].cast(pl.Int64).to_numpy())
    sizes = np.where(of >= 0, np.append(rows.sizes, 0)[of], 0)
    if question.short == "drop":
        enough = sizes >= question.points
        targets, of, sizes = targets.filter(enough), of[enough], sizes[enough]
    items = rows.items(of, question.lottery(targets["lot"].to_numpy(), sizes, question.points))
    drawn = pl.DataFrame({"trace": targets["trace"], "size": sizes}).with_columns(
        pl.Series(f"p{number}", column, dtype=pl.Int64) for number, column in enumerate(items.T)
    )
    asked.exchange("points").leave(drawn.with_columns(home=pl.lit(shard, pl.Int32)), shard)
    most, longest = int(rows.sizes.max(initial=0)), int(sizes.max(initial=0))
    return Seen(question, longest, len(targets), len(case.searched.traces()), most=most)


@dataclass(frozen=True)
class Count:
    """How many traces of the shard pass through the points of each person anywhere."""

    asked: Asked
    together: list[list[int]]

    def __call__(self, shard: int) -> None:
        asked = self.asked
        with asked.open(shard) as (store, case, _):
            crowds = Crowds(_rows(store, asked, case))
            points = asked.exchange("points")
            for part, shards in enumerate(self.together):
                drawn = points.find(store, map(points.path, shards))
                drawn = drawn.filter(pl.col("size") > 0)
                known = drawn.drop("trace", "size", "home").to_numpy()
                here = np.flatnonzero(crowds.known_at_all(known))
                k = crowds.holding_all(known[here], _say_nothing)
                fits = here[k > 0]
                found = drawn[fits].select("trace", pl.col("home").alias(TO)).with_columns(k=k[k > 0])
                asked.exchange("found").leave(found, shard, part)


@dataclass(frozen=True)
class Finish:
    """Everybody's answer, on the shard of the person."""

    asked: Asked
    together: list[list[int]]
    traces: int

    def __call__(self, shard: int) -> tuple[int, ...]:
        asked = self.asked
        with asked.open(shard) as (store, case, question):
            sent = asked.exchange("found")
            part = next(part for part, shards in enumerate(self.together) if shard in shards)
            found = sent.find(store, (sent.path(number, part) for number in range(asked.shards)), shard)
            drawn = sent.find(store, [asked.exchange("points").path(shard)])
            counted = found.group_by("trace").agg(k=pl.col("k").sum())
            k = drawn.join(counted, on="trace", how="left", maintain_order="left")["k"].fill_null(0).to_numpy()
            sizes = drawn["size"].to_numpy()
            if ((k == 0) & (sizes > 0)).any():
                raise ContractError("somebody does not pass through points of their own")
            k = np.where(sizes == 0, self.traces, k)  # somebody without points could be anybody
            chance = 1 / np.maximum(k, 1)
            people = pl.DataFrame({"trace": drawn["trace"], "known": np.minimum(sizes, question.points), "k": k,
                                   "found": np.ones(len(k), bool), "pick_chance": chance, "mean_pick_chance": chance,
                                   "combinations": np.ones(len(k), np.int64)})  # fmt: skip
            items = drawn.drop("trace", "size", "home").to_numpy().astype(np.int64)
            points = name_points(drawn["trace"], items, _cells(case))
            dropped = case.targets["trace"].filter(~case.targets["trace"].is_in(drawn["trace"].implode()))
            return asked.write_answer(store, shard, Answer(people, points, dropped))


def _together(targets: list[int]) -> list[list[int]]:
    """Shards whose people are looked for together."""
    groups: list[list[int]] = [[]]
    held = 0
    for shard, people in enumerate(targets):
        if groups[-1] and held + people > AT_ONCE:
            groups.append([])
            held = 0
        groups[-1].append(shard)
        held += people
    return groups


def _cells(case: Case) -> pl.Series:
    """All cells of the release, the same in every task."""
    return case.map()["cell"].unique().sort()


def _rows(store: ShardStore, asked: Asked, case: Case) -> Rows:
    """The points of the shard's traces, numbered as in every other task."""
    cells = _cells(case)
    ((slots,),) = store.rows("select slots from counts.release where release_id = $id", id=asked.release_id)
    last, last_slot = case.searched.extent()
    bits = (max(slots, last_slot + 1) * len(cells)).bit_length()
    refuse_too_large(bits, last, last_slot, len(cells))
    unknown = store.rows(
        "select 1 from slots.visit where traces_id = $id and cell not in (select cell from grid.cell) limit 1",
        id=asked.traces_id,
    )
    if unknown:
        raise ContractError("somebody was in a cell that grid.cell does not have")
    return Rows.of(case.searched.keys(cells, bits), bits, len(cells))


def _say_nothing(done: int, total: int) -> None:
    """Tasks have nobody to tell how far they are."""
