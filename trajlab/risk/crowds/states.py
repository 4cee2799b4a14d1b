"""Beginnings of combinations, of the lists looked for and of those searched, and how they grow by one element."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from trajlab.risk.crowds.lists import Bools, Ints, Lists

BLOCK = 500_000
"""Combinations written down at once: some hundred megabytes with all that is computed of them."""


@dataclass(frozen=True, slots=True)
class States:
    """Beginnings of combinations: whose, up to which group, how many of it, and the number of the beginning."""

    who: Ints
    group: Ints
    taken: Ints
    ways: Ints
    """In how many ways the list's elements make this beginning."""
    path: Ints
    """All groups taken so far, a column each; without columns where no values have to fit."""
    number: Ints

    def __len__(self) -> int:
        return len(self.who)

    def only(self, which: Bools | Ints | slice) -> States:
        return States(
            self.who[which], self.group[which], self.taken[which], self.ways[which], self.path[which],
            self.number[which],
        )  # fmt: skip


def single(lists: Lists) -> States:
    """Combinations of one element."""
    groups = np.arange(len(lists.item))
    path = groups[:, None][:, : 0 if lists.value is None else 1]
    return States(lists.owner, groups, np.ones_like(groups), lists.size.copy(), path, lists.item.copy())


def longer(states: States, lists: Lists, items: int, *, leftmost: bool = False) -> States:
    """Every state with one element more: another of the same group, or one of a later group.

    `leftmost` takes an element only where it next occurs, so that a list has every order of items once.
    """
    stay = np.flatnonzero(states.taken < lists.size[states.group])
    later = lists.end[states.group] - states.group - 1
    go = np.repeat(np.arange(len(states)), later)
    offset = np.arange(len(go)) - np.repeat(np.cumsum(later) - later, later)
    group = states.group[go] + 1 + offset
    if leftmost:
        before, here = lists.before[group], states.group[go]
        next_there = (before < here) | ((before == here) & (states.taken[go] == lists.size[here]))
        go, group = go[next_there], group[next_there]
    old = np.concatenate([stay, go])
    group = np.concatenate([states.group[stay], group])
    taken = np.concatenate([states.taken[stay] + 1, np.ones(len(go), np.int64)])
    ways = np.concatenate(
        [
            states.ways[stay] * (lists.size[states.group[stay]] - states.taken[stay]) // (states.taken[stay] + 1),
            states.ways[go] * lists.size[group[len(stay) :]],
        ]
    )
    path = np.concatenate([states.path[old], group[:, None]], axis=1) if lists.value is not None else states.path[old]
    return States(states.who[old], group, taken, ways, path, states.number[old] * items + lists.item[group])


def blocks(mine: States, theirs: States, known: Lists, searched: Lists) -> Iterator[tuple[States, States, int]]:
    """States with the same numbers together, as many as a block has room for, and how many numbers they have."""
    if not len(mine):
        return
    numbers = int(mine.number[-1]) + 1
    room = np.zeros(numbers, np.int64)
    for states, lists in ((mine, known), (theirs, searched)):
        np.add.at(room, states.number, lists.end[states.group] - states.group)
    full = np.cumsum(room)
    begin = 0
    while begin < numbers:
        used = full[begin - 1] if begin else 0
        stop = max(begin + 1, int(np.searchsorted(full, used + BLOCK, side="right")))
        parts = []
        for states in (mine, theirs):
            part = states.only(slice(*np.searchsorted(states.number, [begin, stop])))
            parts.append(States(part.who, part.group, part.taken, part.ways, part.path, part.number - begin))
        yield parts[0], parts[1], stop - begin
        begin = stop


def pieces(states: States, lists: Lists) -> Iterator[States]:
    """The states in pieces that one element more makes about a block of."""
    full = np.cumsum(lists.end[states.group] - states.group)
    begin = 0
    while begin < len(states):
        used = full[begin - 1] if begin else 0
        stop = max(begin + 1, int(np.searchsorted(full, used + BLOCK, side="right")))
        yield states.only(slice(begin, stop))
        begin = stop
