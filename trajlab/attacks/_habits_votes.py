"""One answer out of many samples, and how sure it is.

In every slot each track gets the cell in which most of its samples are, as far as the counts
allow: an assignment. A track on which all samples agree keeps its cell, so the assignment is
among the others alone. How sure the answer is follows from how many samples agree with it: those of
the restart that it is of, and those of the others, where the track most like it is looked at. A slot on which
all agree is still wrong where the rest of its track is a mixture of people, so the whole track counts as well.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from trajlab.attacks._compiled import compiled
from trajlab.attacks._habits_model import Cells

Shares = npt.NDArray[np.float32]

WHOLE = 2
"""The power with which agreement on a whole track counts. Shares alone are too sure of themselves: what one restart
takes for a person, others do too. Chosen on StudentLife and a simulated city, see docs/habits.md."""


def vote(samples: list[Cells]) -> Cells:
    """The tracks that agree with the samples most, slot by slot."""
    answer = samples[-1].copy()
    for slot in range(answer.shape[1]):
        cells = np.stack([sample[:, slot] for sample in samples], axis=1)
        unsure = np.flatnonzero((cells != cells[:, :1]).any(axis=1))
        if len(unsure):
            answer[unsure, slot] = _elect(cells[unsure])
    return answer


def confidence(agree: Shares) -> Shares:
    """How sure the answer is of each position: the share that agrees there, times that of the whole track, squared."""
    sure: Shares = agree * agree.mean(axis=1, keepdims=True) ** WHOLE
    return sure


def agreement(answer: Cells, samples: list[Cells], others: list[list[Cells]], places: int) -> Shares:
    """The share of all samples that agree with the answer in each slot: of its own restart, and of others.

    There a track has another number: it is compared with the track that is most like it.
    """
    agree = np.zeros(answer.shape, dtype=np.float32)
    for sample in samples:
        agree += sample == answer
    for restart in others:
        same = likest(answer, restart[-1], places)
        for sample in restart:
            agree += sample[same] == answer
    return agree / np.float32(len(samples) + sum(len(restart) for restart in others))


def _elect(cells: Cells) -> Cells:
    """Tracks × samples of one slot to one cell each; tracks that share no cell are told apart first."""
    place, column = np.unique(cells, return_inverse=True)
    column = column.reshape(cells.shape)
    row = np.repeat(np.arange(len(cells)), cells.shape[1])
    votes = coo_array((np.ones(cells.size), (row, column.ravel())), shape=(len(cells), len(place))).tocsr()
    _, part = connected_components(votes @ votes.T, directed=False)
    chosen = cells[:, -1].copy()
    for members in np.split(np.argsort(part, kind="stable"), np.cumsum(np.bincount(part))[:-1]):
        seat = column[members, -1]
        won = votes[members].toarray()[:, seat]
        chosen[members] = place[seat[linear_sum_assignment(-won)[1]]]
    return chosen


@compiled
def likest(one, two, places):  # type: ignore[no-untyped-def]
    """For each track of one answer the track of another that is in the same cell most often, the first among equals."""
    people, slots = one.shape
    found = np.zeros(people, dtype=np.int64)
    first, who = np.zeros((slots, places + 1), dtype=np.int32), np.zeros((slots, people), dtype=np.int32)
    for slot in range(slots):
        for track in range(people):
            first[slot, two[track, slot] + 1] += 1
        for place in range(places):
            first[slot, place + 1] += first[slot, place]
        at = first[slot].copy()
        for track in range(people):
            cell = two[track, slot]
            who[slot, at[cell]] = track
            at[cell] += 1
    shared = np.zeros(people, dtype=np.int64)
    for track in range(people):
        shared[:] = 0
        for slot in range(slots):
            cell = one[track, slot]
            for seat in range(first[slot, cell], first[slot, cell + 1]):
                shared[who[slot, seat]] += 1
        found[track] = np.argmax(shared)
    return found
