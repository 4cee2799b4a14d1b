"""Equal lists: every task sends the signatures of its lists, each to the one task that counts it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from trajlab.cluster.crowds import Asked, Run, Seen, unread
from trajlab.cluster.exchange import TO
from trajlab.risk.knowledge import Answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trajlab.cluster.shard import ShardStore
    from trajlab.risk.knowledge import Case
    from trajlab.risk.knowledge._lists import SameList


def jobs(asked: Asked, run: Run, first: Sequence[Seen]) -> Finish:
    first[0].question.refuse_too_many(max(seen.longest for seen in first))
    run(Count(asked), "counting equal lists")
    return Finish(asked, sum(seen.traces for seen in first))


def begin(asked: Asked, shard: int, store: ShardStore, case: Case, question: SameList) -> Seen:
    """Send every different list of the shard, with how often it is there."""
    items = question.read(case.searched).select("rank", holder="trace", key="cell")
    kept = asked.keep_top(store, shard)
    lists = _signed(items, ordered=question.ordered)
    asked.exchange("items").leave(items, shard)
    asked.exchange("lists").leave(lists, shard)
    counted = lists.group_by("signature").agg(lists=pl.len().cast(pl.Int64)).sort("signature")
    to = pl.Series(TO, [int(text[:8], 16) % asked.shards for text in counted["signature"]], dtype=pl.Int32)
    asked.exchange("signatures").leave(counted.with_columns(to, home=pl.lit(shard, pl.Int32)), shard)
    longest = int(items["rank"].to_numpy().max(initial=0))
    said = replace(question, read=unread)
    return Seen(said, longest, len(case.targets), len(case.searched.traces()), top_places=kept)


@dataclass(frozen=True)
class Count:
    """Of the signatures sent to this task: how many lists everywhere have each."""

    asked: Asked

    def __call__(self, number: int) -> None:
        asked = self.asked
        sent = asked.exchange("signatures")
        with asked.shared.open(number) as store:
            rows = sent.find(store, (sent.path(shard) for shard in range(asked.shards)), number)
        counted = rows.with_columns(k=pl.col("lists").sum().over("signature"))
        asked.exchange("counts").leave(counted.select("signature", "k", pl.col("home").alias(TO)), number)


@dataclass(frozen=True)
class Finish:
    """Everybody's answer, on the shard of the person."""

    asked: Asked
    traces: int

    def __call__(self, shard: int) -> tuple[int, ...]:
        asked = self.asked
        with asked.open(shard) as (store, case, _):
            sent = asked.exchange("counts")
            counts = sent.find(store, (sent.path(number) for number in range(asked.shards)), shard)
            items = sent.find(store, [asked.exchange("items").path(shard)])
            lists = sent.find(store, [asked.exchange("lists").path(shard)])
            wanted = case.targets.select("trace")
            known = lists.join(counts, on="signature").select("k", known="length", trace="holder")
            nothing = pl.col("known").is_null()
            k = pl.when(nothing).then(pl.lit(self.traces, pl.Int64)).otherwise(pl.col("k"))
            people = wanted.join(known, on="trace", how="left", maintain_order="left").select(
                "trace",
                known=pl.col("known").cast(pl.Int32).fill_null(0),
                k=k,
                found=pl.lit(value=True),
                pick_chance=1 / k,
                mean_pick_chance=1 / k,
                combinations=pl.lit(1, pl.Int64),
            )
            points = items.join(wanted, left_on="holder", right_on="trace", how="semi")
            points = points.select("rank", trace="holder", slot=pl.lit(None, pl.Int32), cell="key")
            return asked.write_answer(store, shard, Answer(people, points))


def _signed(items: pl.DataFrame, *, ordered: bool) -> pl.DataFrame:
    """Each list's length, and the md5 of its items in order."""
    in_order = items.sort("holder", "rank" if ordered else "key")
    texts = in_order.group_by("holder", maintain_order=True).agg(
        length=pl.len(), text=pl.col("key").cast(pl.String).str.join(",")
    )
    different = texts.select("text").unique()
    signature = [hashlib.md5(text.encode(), usedforsecurity=False).hexdigest() for text in different["text"]]
    named = different.with_columns(pl.Series("signature", signature, dtype=pl.String))
    return texts.join(named, on="text").drop("text").sort("holder")
