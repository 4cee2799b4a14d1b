"""Where each track is, as beliefs: expectation and maximisation over all tracks, days and counts at once.

Each track is a Markov chain over occupied cells with habits of its own, see `_habits_model`. One
multiplier for each slot and occupied cell makes the expected counts those of the release
(Sinkhorn's balancing, one slot after the other while messages pass forwards; messages pass
backwards in between). Then habits are counted again from the beliefs. A day is judged by the other
days of its track. What is usual counts little at first, and in full towards the end.

Besides the cells, the chain remembers whether the track has just arrived. Moves by habit go wherever the track is
usually, from everywhere alike; only moves by the map need a product of all cells with all cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from trajlab.attacks._city import City, Ints
from trajlab.attacks._habits_messages import backwards, forwards, habits_by_day, recount
from trajlab.attacks._habits_model import Cells, Model, fit
from trajlab.matching.blas import one_blas_thread

Singles = npt.NDArray[np.float32]
single = np.float32

GENTLE = 0.2
"""What habits count in the first round, beside the last ones."""
FULL = 0.7
"""After this share of all rounds they count in full."""
REFIT = 5
"""Rounds after which chances of moving and ways of choosing are estimated again."""
AWAY = 0.03
"""Share of all positions that are farthest from their tracks' homes: some people travel, most do not."""
NEAR = 4.0
"""Nothing nearer than that is away, in distances between neighbours."""


ROOM = 30_000_000
"""Most people times occupied cells, over all slots, that beliefs are kept of: 12 bytes each."""


class Counts(NamedTuple):
    """Occupied cells of all slots in a row: those of slot t from `first[t]` to `first[t + 1]`, ascending."""

    first: Ints
    cell: Ints
    people: Singles


class Known(NamedTuple):
    """By day: the slots that each track is believed to be in a cell, by part of the day and in all, and arrivals."""

    at_time: Singles
    spent: Singles
    arrived: Singles


def occupied(tracks: Cells) -> Counts:
    """The counts that tracks keep."""
    slots = tracks.shape[1]
    key, number = np.unique(tracks + (np.arange(slots) << 32), return_counts=True)
    first = np.searchsorted(key, np.arange(slots + 1) << 32)
    return Counts(first, key & 0xFFFFFFFF, number.astype(single))


def fits(tracks: Cells) -> bool:
    """Whether there is room for a belief in every occupied cell, of every track."""
    return len(tracks) * len(occupied(tracks).cell) <= ROOM


def believe(city: City, tracks: Cells, model: Model, rounds: int) -> tuple[Cells, Singles]:
    """The tracks that fit beliefs best after some rounds, all counts as they were; and the belief in each position."""
    counts = occupied(tracks)
    people, blocks, days = len(tracks), model.moving.shape[1], city.days
    size = (people, blocks, city.places)
    known = nothing(days, *size)
    recount(tracks, city.slots_per_day, model.block, known)
    entries = people * len(counts.cell)
    likely, later = np.empty(entries, dtype=single), np.ones((2, entries), dtype=single)
    multiplier = np.ones(len(counts.cell), dtype=single)
    tables = (*np.empty((2, days, *size), single), np.empty((days, people, city.places), np.int8))
    near, away = nearness(model.spots), is_away(model.spots, tracks)
    with one_blas_thread():
        for number in range(rounds):
            weight = model.evidence * min(1.0, GENTLE + (1 - GENTLE) * number / (FULL * rounds))
            habits_by_day(city.slots_per_day, known, model, weight, away, tables)
            known = nothing(days, *size)
            backwards(counts, multiplier, city.slots_per_day, model, tables, near, later)
            forwards(counts, multiplier, city.slots_per_day, model, tables, near, later, known, likely)
            if (number + 1) % REFIT == 0 and number + 1 < rounds:
                model, _ = fit(model, likeliest(counts, likely, people), city.slots_per_day)
    found = harden(counts, likely, people)
    return found, look_up(counts, likely, found)


def nothing(days: int, people: int, blocks: int, places: int) -> Known:
    return Known(np.zeros((days, people, blocks, places), single), *np.zeros((2, days, people, places), single))


def nearness(spots: npt.NDArray[np.float64]) -> Singles:
    """How much likelier moves between places are than between popular ones: power 1.5 of distance, see `odds`."""
    apart = np.hypot(*(spots[:, None] - spots[None]).transpose(2, 0, 1))
    near = np.maximum(np.nan_to_num(apart, nan=1.0), 0.5) ** -1.5
    np.fill_diagonal(near, 0.0)
    found: Singles = near.astype(single)
    return found


def is_away(spots: npt.NDArray[np.float64], tracks: Cells) -> npt.NDArray[np.bool_]:
    """Whether a place (column) is far from a home (row)."""
    apart = np.nan_to_num(np.hypot(*(spots[:, None] - spots[None]).transpose(2, 0, 1)))
    home = np.array([np.bincount(track).argmax() for track in tracks])
    limit = max(float(np.quantile(apart[home[:, None], tracks], 1 - AWAY)), NEAR)
    away: npt.NDArray[np.bool_] = apart > limit
    return away


def likeliest(counts: Counts, likely: Singles, people: int) -> Cells:
    """The cell of greatest belief for each track and slot, whatever the counts."""
    found = np.empty((people, len(counts.first) - 1), dtype=np.int32)
    for slot in range(found.shape[1]):
        start, end = counts.first[slot : slot + 2]
        best = likely[people * start : people * end].reshape(people, -1).argmax(axis=1)
        found[:, slot] = counts.cell[start:end][best]
    return found


def harden(counts: Counts, likely: Singles, people: int) -> Cells:
    """In each slot the tracks' cells of greatest belief in all, everybody counted once: an assignment."""
    slots = len(counts.first) - 1
    found = np.empty((people, slots), dtype=np.int32)
    for slot in range(slots):
        start, end = counts.first[slot : slot + 2]
        belief = likely[people * start : people * end].reshape(people, -1)
        seat = np.repeat(np.arange(end - start), counts.people[start:end].astype(np.int64))
        found[:, slot] = counts.cell[start:end][seat[linear_sum_assignment(-belief[:, seat])[1]]]
    return found


def look_up(counts: Counts, likely: Singles, tracks: Cells) -> Singles:
    """The belief in each position of tracks."""
    people, slots = tracks.shape
    key = np.repeat(np.arange(slots) << 32, np.diff(counts.first)) + counts.cell
    at = np.searchsorted(key, tracks + (np.arange(slots) << 32))
    width, start = np.diff(counts.first), counts.first[:-1]
    belief: Singles = likely[people * start + np.arange(people)[:, None] * width + at - start]
    return belief
