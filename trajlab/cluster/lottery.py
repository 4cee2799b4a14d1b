"""Who is drawn from everybody, without anybody seeing everybody.

A lottery puts people in the order of an md5 and takes the first so many. The first of all, seen from one
shard, are the first of the shard: it is enough to know how many of them each has. Shards count the
first digits of their md5; only those people in the middle of whom the line falls are then looked at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from trajlab.cluster.shard import Shared
from trajlab.query import Query, step

if TYPE_CHECKING:
    from trajlab.cluster.store import ClusterStore

DIGITS = 3
"""Of the md5, 16 different ones each."""


def draw(store: ClusterStore, query: Query, params: Mapping[str, Any], tickets: str, most: int) -> list[int]:
    """How many of each shard are among the first `most`; `tickets` is a step that gives the md5 of those who play."""
    shared = store.shared(f"drawing for {query.table}", query.reads, dict(params))
    counted = store.run(_Tickets(shared, query.table, tickets, dict(params), None), "drawing")
    totals: dict[str, int] = {}
    for part in counted:
        for digits, people in part:
            totals[digits] = totals.get(digits, 0) + people
    in_order = sorted(totals)
    reached = dict(zip(in_order, accumulate(totals[digits] for digits in in_order), strict=True))
    line = next((digits for digits in in_order if reached[digits] > most), None)
    if line is None:
        return [sum(people for _, people in part) for part in counted]
    rest = most - (reached[line] - totals[line])
    close = store.run(_Tickets(shared, query.table, tickets, dict(params), line), "drawing")
    drawn = set(sorted(ticket for part in close for (ticket,) in part)[:rest])
    return [
        sum(people for digits, people in part if digits < line) + sum(ticket in drawn for (ticket,) in near)
        for part, near in zip(counted, close, strict=True)
    ]


@dataclass(frozen=True)
class _Tickets:
    """Count the first digits of a shard's tickets, or list the tickets that begin with some."""

    shared: Shared
    table: str
    tickets: str
    params: dict[str, Any]
    digits: str | None

    def __call__(self, shard: int) -> list[tuple[Any, ...]]:
        query = Query.load(self.table)
        with self.shared.open(shard) as store:
            used = {name: self.params[name] for name in query.params}
            rows = store.frame(query.select, **used)
            with store.engine.frames(player=rows):
                text = step(self.tickets)
                found = store.frame(text, **{name: self.params[name] for name in re.findall(r"\$(\w+)", text)})
        with_digits = found.select(found["ticket"].str.slice(0, DIGITS).alias("digits"), "ticket")
        if self.digits is None:
            return sorted(with_digits.group_by("digits").len().rows())
        return with_digits.filter(with_digits["digits"] == self.digits).select("ticket").rows()
