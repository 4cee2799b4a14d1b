"""Any combination of some elements: those that begin with one place are all counted by one task.

A combination has an order, the rarest place first (or, where order is known, the first in time), so it begins with
one place and is counted once. The task of a place needs, of every trace that was there, what comes after it:
that is sent. Each task returns, of everybody, the worst combination among its own and the sum over them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from trajlab.cluster.crowds import Asked, Run, Seen, listed, unread
from trajlab.cluster.exchange import TO
from trajlab.cluster.folder import text_literal
from trajlab.cluster.shard import ShardStore, open_shard
from trajlab.risk.crowds.combining import Found, binomials, choices, results, sums, walk_all
from trajlab.risk.crowds.lists import Ints, Lists, build_lists
from trajlab.risk.crowds.walking import NONE, Walk
from trajlab.risk.knowledge import Answer
from trajlab.risk.knowledge._combinations import telling_what_to_do

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trajlab.risk.crowds.fitting import Fit
    from trajlab.risk.knowledge import Case
    from trajlab.risk.knowledge._combinations import AnyCombination

AT_ONCE = 2_000_000
"""Rows that a task sends in one file: so many are in memory."""


@dataclass(frozen=True)
class Settings:
    """What all tasks need to know of the question, and what the first say of all shards together."""

    most: int
    limit: int
    ordered: bool
    fit: Fit | None
    longest: int
    items: int


def jobs(asked: Asked, run: Run, first: Sequence[Seen]) -> Finish:
    question, longest = first[0].question, max(seen.longest for seen in first)
    question.refuse_too_many(longest, sum(seen.targets for seen in first))
    binomials(longest, question.most)  # refused where there are too many to count
    fit = None if _is_label(question.fit) else question.fit
    settings = Settings(question.most, question.limit, question.ordered, fit, longest, _number_items(asked))
    parts = run(Send(asked, settings), "sending combinations")
    run(Count(asked, settings, parts), "counting combinations")
    return Finish(asked, settings, sum(seen.traces for seen in first))


def begin(asked: Asked, shard: int, store: ShardStore, case: Case, question: AnyCombination) -> Seen:
    """Write the elements of the shard, and of each item how many lists have it."""
    frame = question.read(case.searched)
    if _is_label(question.fit):
        frame = frame.with_columns(label="value", value=pl.lit(None, pl.Float64))
    kept = asked.keep_top(store, shard)
    asked.exchange("elements").leave(frame, shard)
    asked.exchange("had").leave(frame.group_by("key", "label").agg(lists=pl.col("holder").n_unique()), shard)
    wanted = case.targets.select(holder="trace")
    longest = frame.join(wanted, on="holder", how="semi").group_by("holder").agg(pl.col("n").sum())["n"]
    most = int(longest.to_numpy().max(initial=0))
    return Seen(replace(question, read=unread), most, len(wanted), len(case.searched.traces()), top_places=kept)


def _is_label(fit: Fit | None) -> bool:
    """Whether an item with a value is an item like any other: as in `combining.build_problem`."""
    return fit is not None and fit.exact


def _number_items(asked: Asked) -> int:
    """Give each item a number, the rarest first, in a file that all tasks read."""
    had = asked.exchange("had")
    with open_shard("numbering places", asked.shared.memory_limit) as store:
        files = listed(had.path(shard) for shard in range(asked.shards))
        numbered = (
            "select key, label, (row_number() over (order by sum(lists), key, label) - 1)::bigint as item "  # noqa: S608
            f"from read_parquet([{files}]) group by key, label"
        )
        return store.write(numbered, {}, asked.exchange("items").path(0))


@dataclass(frozen=True)
class Send:
    """Send to the task of each item what every list has from that item on."""

    asked: Asked
    settings: Settings

    def __call__(self, shard: int) -> int:
        asked, settings = self.asked, self.settings
        with asked.open(shard) as (store, case, _):
            lists, holders = read_lists(store, asked, settings, shard, case)
        size = np.minimum(lists.elements, settings.most)
        over = choices(lists, size, settings.most) > settings.limit
        wanted = pl.Series(holders).is_in(case.targets["trace"].implode()).to_numpy()
        part = 0
        for part, (rows, start, stop) in enumerate(_suffixes(lists, asked.shards), start=1):
            group = np.repeat(start, stop - start) + _steps(stop - start)
            owner = lists.owner[group]
            sent = {
                TO: np.repeat(rows, stop - start),
                "holder": holders[owner],
                "at": group - lists.first[owner],
                "item": lists.item[group],
                "n": lists.size[group],
                "value": np.full(len(group), np.nan) if lists.value is None else lists.value[group],
                "size": size[owner],
                "over": over[owner],
                "wanted": wanted[owner],
                "home": np.full(len(group), shard, np.int32),
            }
            asked.exchange("suffixes").leave(pl.DataFrame(sent), shard, part - 1)
        return part


@dataclass(frozen=True)
class Count:
    """Every combination that begins with an item of this task."""

    asked: Asked
    settings: Settings
    parts: list[int]

    def __call__(self, number: int) -> None:
        asked, settings = self.asked, self.settings
        sent = asked.exchange("suffixes")
        files = [sent.path(shard, part) for shard, parts in enumerate(self.parts) for part in range(parts)]
        with asked.shared.open(number) as store:
            rows = sent.find(store, files, number) if files else None
        back = asked.exchange("worst")
        if rows is None or not len(rows):
            back.leave(pl.DataFrame(schema=BACK), number)
            return
        rows = rows.with_columns(value=pl.col("value").fill_nan(None), key_order=pl.lit(0))
        about = rows.unique("holder", keep="any").select("holder", "size", "over", "wanted", "home").sort("holder")
        mine = about.filter("wanted")
        searched = build_lists(rows, about["holder"], ordered=settings.ordered)
        known = searched if len(mine) == len(about) else build_lists(rows, mine["holder"], ordered=settings.ordered)
        walk = Walk(
            known, searched, settings.items, settings.most, settings.ordered, settings.fit, None,
            binomials(settings.longest, settings.most),
        )  # fmt: skip
        walk.size = mine["size"].cast(pl.Int64).to_numpy()
        walk.begins = np.arange(settings.items) % asked.shards == number
        with telling_what_to_do():
            walk_all(walk, mine["over"].to_numpy(), lambda done, total: None)
        found = mine.select("holder", pl.col("home").alias(TO)).with_columns(
            best=walk.best, least=walk.least, total=sums(walk)
        )
        back.leave(found.filter(pl.col("least") < NONE), number)


BACK = {"holder": pl.Int32, TO: pl.Int32, "best": pl.Int64, "least": pl.Int64, "total": pl.Float64}


@dataclass(frozen=True)
class Finish:
    """Everybody's answer, on the shard of the person."""

    asked: Asked
    settings: Settings
    traces: int

    def __call__(self, shard: int) -> tuple[int, ...]:
        asked, settings = self.asked, self.settings
        with asked.open(shard) as (store, case, _):
            sent = asked.exchange("worst")
            rows = sent.find(store, (sent.path(number) for number in range(asked.shards)), shard)
            lists, holders = read_lists(store, asked, settings, shard, case)
            worst = rows.sort("holder", "best", "least", "total").group_by("holder", maintain_order=True)
            merged = worst.agg(pl.col("best").min(), pl.col("least").min(), pl.col("total").sum())
            everybody = pl.DataFrame({"holder": holders}).join(merged, on="holder", how="left", maintain_order="left")
            size = np.minimum(lists.elements, settings.most)
            combinations = binomials(settings.longest, settings.most)[
                np.minimum(lists.elements, settings.longest), size
            ]
            found = Found(
                everybody["best"].fill_null(NONE).to_numpy(),
                everybody["least"].fill_null(NONE).to_numpy(),
                everybody["total"].fill_null(0.0).to_numpy(),
            )
            over = choices(lists, size, settings.most) > settings.limit
            own = np.ones(len(size), bool)
            people = results(found, size, combinations, over, own, self.traces)
            people = people.with_columns(trace=pl.Series(holders)).join(case.targets, on="trace", how="semi")
            return asked.write_answer(store, shard, Answer(people))


def read_lists(store: ShardStore, asked: Asked, settings: Settings, shard: int, case: Case) -> tuple[Lists, Ints]:
    """What every trace of the shard holds, by the numbers of the items, and the names of the traces."""
    files = asked.exchange("elements"), asked.exchange("items")
    elements, items = (text_literal(str(each.path(number))) for each, number in zip(files, (shard, 0), strict=True))
    frame = store.frame(
        'select e.holder, e."at", e.key as key_order, e.n, e.value, i.item '  # noqa: S608
        f"from read_parquet({elements}) as e join read_parquet({items}) as i "
        "on e.key = i.key and e.label is not distinct from i.label"
    )
    holders = case.searched.traces()
    return build_lists(frame, holders, ordered=settings.ordered), holders.to_numpy()


def _suffixes(lists: Lists, tasks: int) -> Iterator[tuple[Ints, Ints, Ints]]:
    """For each list and each task of one of its items: the task, the first group sent, and where the list ends."""
    owner = lists.owner
    address = owner * tasks + lists.item % tasks
    different, first = np.unique(address, return_index=True)
    task, stop = different % tasks, lists.end[first]
    ends = np.cumsum(stop - first)
    begin = 0
    while begin < len(first):
        used = ends[begin - 1] if begin else 0
        upto = max(begin + 1, int(np.searchsorted(ends, used + AT_ONCE, side="right")))
        yield task[begin:upto], first[begin:upto], stop[begin:upto]
        begin = upto


def _steps(counts: Ints) -> Ints:
    return np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
