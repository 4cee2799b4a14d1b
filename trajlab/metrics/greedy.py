"""Greedy pairing (xu2017, section 5.1): each track in turn takes the most similar person still free.

Similarity is the number of slots spent in the same cell (eq. 5). Among equally similar
people the one with the smallest number is taken: choosing the nearest would need a
distance for every pair. What is obvious as a loop over tracks is done for a block of them at a
time: every track asks for its favourite, a person asked by several goes to the earliest
track, and whoever is refused or pushed out asks for the next one. That ends with exactly the
pairs of the loop, because a later track never changes what an earlier one gets.

    track 0 shares 5 slots with Ana and 3 with Ben; track 1 shares 5 with Ana and 4 with Ben
    both ask for Ana, track 0 gets her, track 1 asks for Ben and gets him
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from trajlab.metrics.parts import Part

Cells = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.int64]

ENTRIES = 8_000_000
"""Similarities held at a time and thread: half a gigabyte with everything that is made of them."""

NOBODY = np.iinfo(np.int64).max


def match(recovered: Cells, truth: Cells, parts: list[Part], tell: Callable[[float, float], None]) -> Iterator[Numbers]:
    """For each part, the track of every person; -1 where there are fewer tracks than people."""
    work = sum(part.stop - part.first for part in parts)
    done = 0
    for part in parts:
        here = slice(part.first, part.stop)
        length = part.stop - part.first
        tell_part = functools.partial(_tell, tell, done, length, work)
        yield most_similar_free(recovered[:, here], truth[:, here], tell_part)
        done += length


def most_similar_free(recovered: Cells, truth: Cells, tell: Callable[[float], None] = lambda share: None) -> Numbers:
    """The track of every person, by the rule above, for (n, T) arrays of cell numbers, -1 for nowhere."""
    cells = 1 + int(max(recovered.max(initial=0), truth.max(initial=0)))
    track_of = np.full(len(truth), -1, dtype=np.int64)
    free = np.arange(len(truth))
    done = 0
    with ThreadPoolExecutor() as pool:
        while done < len(recovered) and len(free):
            # People who are taken need no similarity any more, so they are left out now and then.
            tracks = slice(done, done + max(len(free) // 4, 256))
            seekers, crowd = _presence(recovered[tracks], cells), _presence(truth[free], cells).T.tocsr()
            holder = np.full(len(free), NOBODY)
            for first, stop in _blocks(seekers, crowd):
                vacant = holder == NOBODY
                rank = functools.partial(_ranked, crowd=crowd, vacant=vacant)
                ranked = pool.map(rank, [seekers[a:b] for a, b in _halves(first, stop)])
                _settle(*_joined(list(ranked)), holder)
                taken = np.flatnonzero((holder >= 0) & (holder != NOBODY))
                track_of[free[taken]] = done + first + holder[taken]
                holder[taken] = -1  # before every track to come
                tell((done + stop) / len(recovered))
            free = free[holder == NOBODY]
            done = tracks.stop
    return track_of


def _tell(tell: Callable[[float, float], None], done: int, length: int, work: int, share: float) -> None:
    tell(done + share * length, work)


def _presence(cells: Cells, width: int) -> Any:
    """One row per track or person, one column per (slot, cell): 1 where they are there."""
    from scipy.sparse import csr_array  # half a second that only a pairing has to pay

    there = cells >= 0
    column = np.arange(cells.shape[1]) * width + cells
    ends = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    ones = np.ones(int(ends[-1]), dtype=np.int32)
    return csr_array((ones, column[there], ends), shape=(len(cells), cells.shape[1] * width))


def _blocks(seekers: Any, crowd: Any) -> Iterator[tuple[int, int]]:
    """Ranges of tracks whose similarities fit into memory, at least one track each."""
    entries = np.cumsum(seekers @ np.diff(crowd.indptr).astype(np.int64))
    first = 0
    while first < len(entries):
        room = 2 * ENTRIES + (entries[first - 1] if first else 0)
        stop = max(first + 1, int(np.searchsorted(entries, room, side="right")))
        yield first, stop
        first = stop


def _halves(first: int, stop: int) -> list[tuple[int, int]]:
    middle = (first + stop) // 2
    return [(a, b) for a, b in ((first, middle), (middle, stop)) if a < b]


def _ranked(seekers: Any, crowd: Any, vacant: npt.NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
    """The vacant people who share a slot with each track, most similar first, and where each list ends."""
    alike = seekers @ crowd
    most = int(alike.data.max(initial=0)) + 1
    track = np.repeat(np.arange(len(alike.indptr) - 1), np.diff(alike.indptr))
    keep = vacant[alike.indices]
    order = ((track * most - alike.data + (most - 1)) * len(vacant) + alike.indices)[keep]
    order.sort()  # one number says it all: track, then similarity, then person
    ends = np.searchsorted(order, np.arange(1, len(alike.indptr)) * most * len(vacant))
    return order % len(vacant), ends


def _joined(lists: list[tuple[Numbers, Numbers]]) -> tuple[Numbers, Numbers]:
    starts = np.cumsum([0, *(len(people) for people, _ in lists)])
    return (
        np.concatenate([people for people, _ in lists]),
        np.concatenate([ends + start for (_, ends), start in zip(lists, starts, strict=False)]),
    )


def _settle(ranked: Numbers, ends: Numbers, holder: Numbers) -> None:
    """Write into `holder` which track of the block gets each person.

    A track that has come to the end of its list shares nothing with anybody left, and asks for
    the vacant people in the order of their numbers.
    """
    begins = np.concatenate([[0], ends[:-1]])
    wishes = np.concatenate([ranked, np.flatnonzero(holder == NOBODY)])
    at = np.where(begins == ends, len(ranked), begins)
    asking = np.arange(len(ends))
    while len(asking := asking[at[asking] < len(wishes)]):
        wanted = wishes[at[asking]]
        before = holder[wanted]
        np.minimum.at(holder, wanted, asking)
        accepted = holder[wanted] == asking
        pushed_out = before[accepted]
        asking = np.concatenate([asking[~accepted], pushed_out[pushed_out != NOBODY]])
        at[asking] += 1
        at[asking] = np.where(at[asking] == ends[asking], len(ranked), at[asking])
