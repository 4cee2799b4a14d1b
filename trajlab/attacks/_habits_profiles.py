"""What each track is known for, kept up to date while tracks change.

A track is in few of the cells there are, so each has a small table of its own: open addressing, a
power of two of entries, freed where a track no longer is. An entry says how often the track is in the cell
in each part of the day, in all, and how often it arrives there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from trajlab.attacks._compiled import compiled
from trajlab.attacks._habits_model import Cells


class Profiles(NamedTuple):
    """`cell` (tracks, entries) is -1 where an entry is free; `known` has slots by part of the day, all, arrivals."""

    cell: Cells
    known: npt.NDArray[np.int32]
    used: Cells
    arrivals: Cells


@compiled
def profiles(tracks, block, blocks, places):  # type: ignore[no-untyped-def]
    """Those of all tracks as they are."""
    people, slots = tracks.shape
    entries = 4
    while entries < 2 * min(slots, places) + 2:
        entries *= 2
    made = Profiles(
        np.full((people, entries), -1, dtype=np.int32),
        np.zeros((people, entries, blocks + 2), dtype=np.int32),
        np.zeros(people, dtype=np.int32),
        np.zeros(people, dtype=np.int32),
    )
    for person in range(people):
        add(made, person, tracks[person], 0, slots, block, 1)
    return made


@compiled
def entry(made, person, cell):  # type: ignore[no-untyped-def]
    """Where the cell is in the track's table, or the free entry where it would be."""
    last = made.cell.shape[1] - 1
    at = (cell * 40503) & last
    while made.cell[person, at] != cell and made.cell[person, at] >= 0:
        at = (at + 1) & last
    return at


@compiled
def add(made, person, row, start, end, block, sign):  # type: ignore[no-untyped-def]
    """Add a stretch of a track to what it is known for, or take it away."""
    blocks = made.known.shape[2] - 2
    for slot in range(start, end):
        cell = row[slot]
        at = entry(made, person, cell)
        if made.cell[person, at] < 0:
            if 4 * (made.used[person] + 1) > 3 * made.cell.shape[1]:
                forget(made, person)
                at = entry(made, person, cell)
            made.cell[person, at] = cell
            made.used[person] += 1
        made.known[person, at, block[slot]] += sign
        made.known[person, at, blocks] += sign
        if slot == 0 or row[slot - 1] != cell:
            made.known[person, at, blocks + 1] += sign
            made.arrivals[person] += sign


@compiled
def forget(made, person):  # type: ignore[no-untyped-def]
    """Free the entries of cells in which the track is no more."""
    cell, known = made.cell[person].copy(), made.known[person].copy()
    made.cell[person] = -1
    made.known[person] = 0
    made.used[person] = 0
    for old in range(len(cell)):
        if cell[old] >= 0 and known[old, -2] > 0:
            at = entry(made, person, cell[old])
            made.cell[person, at] = cell[old]
            made.known[person, at] = known[old]
            made.used[person] += 1
