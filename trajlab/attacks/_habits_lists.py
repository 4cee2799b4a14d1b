"""Which cells a track can be believed in on each day: a short list, for where all cells are too many.

A list holds the cells of the first tracks on that day, so that all counts can be kept whatever else is believed; the
cells in which the track is believed to be on that day and on others; and as many more as there is room for, drawn
anew in every round from where somebody like this track goes: out of the same cell on the same day, out of a near one
in the same slot, or who is near it. What is drawn and not believed is gone in the next round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from trajlab.attacks._compiled import compiled
from trajlab.attacks._habits_exchange import draw
from trajlab.attacks._habits_model import Cells

Singles = npt.NDArray[np.float32]
single = np.float32

OWN = 4.0
"""What a slot of this day counts beside one of another day when cells are ranked, and an arrival."""
WORTH = 0.02
"""A rank below that is not worth a place in the list."""
LEARNED = 0.7
"""The share of a list that is kept for what is believed; the rest is drawn."""
SAME_CELL, SAME_SLOT = 0.5, 0.8
"""Up to which draw a cell is sought among moves out of the same cell, and out of near ones; then who is near."""
TRIES = 4
"""Of so many drawn moves or people the nearest is taken."""


class Lists(NamedTuple):
    """The cells of each day and track, ascending, the first `width` of them."""

    cell: Cells
    width: Cells


class Moves(NamedTuple):
    """All moves of some tracks by day and the cell left (`first`), and by slot (`at`): which cells were left, reached.

    Both times the last two are left and reached.
    """

    first: npt.NDArray[np.int64]
    reached: Cells
    at: npt.NDArray[np.int64]
    left_at: Cells
    reached_at: Cells


def moves_of(tracks: Cells, per_day: int, places: int) -> Moves:
    """Of tracks, people × slots."""
    slots = tracks.shape[1]
    days = -(-slots // per_day)
    person, slot = np.nonzero(tracks[:, 1:] != tracks[:, :-1])
    left, reached = tracks[person, slot], tracks[person, slot + 1]
    slot += 1
    key = slot // per_day * places + left
    by_cell = np.argsort(key, kind="stable")
    by_slot = np.argsort(slot, kind="stable")
    first = np.searchsorted(key[by_cell], np.arange(days * places + 1))
    at = np.searchsorted(slot[by_slot], np.arange(slots + 1))
    return Moves(first, reached[by_cell], at, left[by_slot], reached[by_slot])


def first_lists(tracks: Cells, per_day: int, room: int) -> Lists:
    """Lists that hold the cells of tracks and nothing else."""
    people, slots = tracks.shape
    days = -(-slots // per_day)
    made = Lists(np.full((days, people, room), -1, dtype=np.int32), np.zeros((days, people), dtype=np.int32))
    _first(tracks, per_day, made)
    return made


def most_on_a_day(tracks: Cells, per_day: int) -> int:
    """The most cells in which a track is on one day."""
    days = [np.sort(tracks[:, start : start + per_day], axis=1) for start in range(0, tracks.shape[1], per_day)]
    return max(int((np.diff(day, axis=1) > 0).sum(axis=1).max(initial=0)) + 1 for day in days)


@compiled
def _first(tracks, per_day, made):  # type: ignore[no-untyped-def]
    people, slots = tracks.shape
    for person in range(people):
        for start in range(0, slots, per_day):
            cells = np.unique(tracks[person, start : min(start + per_day, slots)])
            made.cell[start // per_day, person, : len(cells)] = cells
            made.width[start // per_day, person] = len(cells)


@compiled
def gather(lists, known, person, sums, touched):  # type: ignore[no-untyped-def]
    """Add up over all days what a track is known for, by cell, into `sums`; which cells, and how many."""
    days, number = len(lists.cell), 0
    rows = sums.shape[1] - 1
    for day in range(days):
        for at in range(lists.width[day, person]):
            cell = lists.cell[day, person, at]
            if sums[cell, rows] == 0:
                sums[cell, rows] = 1
                touched[number] = cell
                number += 1
            for row in range(rows):
                sums[cell, row] += known[day, person, row, at]
    return number


@compiled
def clear(sums, touched, number):  # type: ignore[no-untyped-def]
    for at in range(number):
        sums[touched[at]] = 0


@compiled
def relist(begin, end, seed, tracks, likely, moves, spots, per_day, lists, known):  # type: ignore[no-untyped-def]
    """New lists for the people from `begin` to `end`, and what is known of the cells that stay in them."""
    days, room, places = len(lists.cell), lists.cell.shape[2], len(spots)
    rows = known.shape[2]
    sums, touched = np.zeros((places, rows + 1), dtype=np.float32), np.empty(places, dtype=np.int32)
    place, rank, old = np.full(places, -1, dtype=np.int32), np.empty(places), np.empty((rows, room), dtype=np.float32)
    state = np.empty(1, dtype=np.uint64)
    for person in range(begin, end):
        state[0] = np.uint64(seed) ^ (np.uint64(person + 1) * np.uint64(0x9E3779B97F4A7C15))
        for _ in range(3):
            draw(state)
        number = gather(lists, known, person, sums, touched)
        for day in range(days):
            width = lists.width[day, person]
            old[:] = known[day, person]
            for at in range(number):
                cell = touched[at]
                rank[at] = sums[cell, rows - 2] + OWN * sums[cell, rows - 1]
            for at in range(width):
                place[lists.cell[day, person, at]] = at
            for at in range(number):
                if place[touched[at]] >= 0:
                    rank[at] += OWN * old[rows - 2, place[touched[at]]]
            best = touched[:number][np.argsort(-rank[:number], kind="mergesort")]
            top = -np.sort(-rank[:number])
            made = fill(state, person, day, tracks, likely, moves, spots, per_day, room, best, top)
            known[day, person] = 0
            for at in range(len(made)):
                if place[made[at]] >= 0:
                    known[day, person, :, at] = old[:, place[made[at]]]
            for at in range(width):
                place[lists.cell[day, person, at]] = -1
            lists.cell[day, person] = -1
            lists.cell[day, person, : len(made)] = made
            lists.width[day, person] = len(made)
        clear(sums, touched, number)


@compiled
def fill(state, person, day, tracks, likely, moves, spots, per_day, room, best, top):  # type: ignore[no-untyped-def]
    """One list: the cells of the first track, then the best ones, then some that are drawn."""
    people, slots = tracks.shape
    start = day * per_day
    end = min(start + per_day, slots)
    own = np.unique(tracks[person, start:end])
    made, width = np.empty(room, dtype=np.int32), len(own)
    made[:width] = own
    for at in range(len(best)):
        if width >= LEARNED * room or top[at] < WORTH:
            break
        width = put(made, width, best[at])
    for _ in range(2 * room):
        if width == room:
            break
        slot, kind = start + int(draw(state) * (end - start)), draw(state)
        here, cell = likely[person, slot], -1
        if kind < SAME_CELL:
            key = day * len(spots) + here
            low, high = moves.first[key], moves.first[key + 1]
            if high > low:
                cell = moves.reached[low + int(draw(state) * (high - low))]
        elif kind < SAME_SLOT:
            low, high, nearest = moves.at[slot], moves.at[slot + 1], np.inf
            for _ in range(TRIES if high > low else 0):
                one = low + int(draw(state) * (high - low))
                far = apart(spots, here, moves.left_at[one])
                if far < nearest:
                    nearest, cell = far, moves.reached_at[one]
        else:
            nearest = np.inf
            for _ in range(TRIES):
                other = likely[int(draw(state) * people), slot]
                far = apart(spots, here, other)
                if other != here and far < nearest:
                    nearest, cell = far, other
        if cell >= 0:
            width = put(made, width, cell)
    return np.sort(made[:width])


@compiled
def put(made, width, cell):  # type: ignore[no-untyped-def]
    """Add a cell to a list unless it is there; how many there are."""
    for at in range(width):
        if made[at] == cell:
            return width
    made[width] = cell
    return width + 1


@compiled
def from_home(tracks, spots):  # type: ignore[no-untyped-def]
    """How far each position is from where its track is most often."""
    people, slots = tracks.shape
    far, often = np.empty((people, slots)), np.zeros(len(spots), dtype=np.int64)
    for person in range(people):
        for slot in range(slots):
            often[tracks[person, slot]] += 1
        home = tracks[person, 0]
        for slot in range(slots):
            cell = tracks[person, slot]
            if often[cell] > often[home] or (often[cell] == often[home] and cell < home):
                home = cell
        for slot in range(slots):
            cell = tracks[person, slot]
            far[person, slot] = apart(spots, home, cell) if cell != home else 0.0
            often[cell] = 0
    return far


@compiled
def apart(spots, one, two):  # type: ignore[no-untyped-def]
    """How far two places are from each other; outside is next to everywhere."""
    aside, ahead = spots[one, 0] - spots[two, 0], spots[one, 1] - spots[two, 1]
    far = np.sqrt(aside * aside + ahead * ahead)
    return 1.0 if np.isnan(far) else far


@compiled
def recount_lists(begin, end, tracks, per_day, block, lists, known):  # type: ignore[no-untyped-def]
    """Fill in what tracks are known for where they are certain."""
    rows = known.shape[2]
    for person in range(begin, end):
        for slot in range(tracks.shape[1]):
            day, cell = slot // per_day, tracks[person, slot]
            at = np.searchsorted(lists.cell[day, person, : lists.width[day, person]], cell)
            known[day, person, block[slot], at] += 1
            known[day, person, rows - 2, at] += 1
            if slot == 0 or tracks[person, slot - 1] != cell:
                known[day, person, rows - 1, at] += 1
