"""What an adversary watched before: where others usually are, where the target is likely to be, and who goes with whom.

Times repeat: what was watched at 10:00 speaks of 10:00, and once seven days were watched, what was watched
on a Tuesday at 10:00 speaks of Tuesdays at 10:00. A *phase* is such a time, a *round* is the day or week that
phases go through. Two counts of the table go up and down together as far as the same people are behind
both: those of the same round as people stay or go on within one, those of two as people repeat themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from trajlab.membership.likelihood import PRIOR

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Cells = npt.NDArray[np.int32]

NOWHERE = -1


@dataclass(frozen=True, slots=True)
class Points:
    """Slots and cells that say something about a target, ordered by target.

    `seen` of `watched` others were there; the target is there with a `chance`, in the adversary's eyes;
    `present` is the truth, for the game alone.
    """

    target: Ints
    slot: Ints
    cell: Ints
    seen: Floats
    watched: Floats
    chance: Floats
    present: npt.NDArray[np.bool_]
    first: Ints
    """Where each target's points begin; a target without any begins where the next does."""


class Reference:
    """Where people (rows) were in the slots that were watched; slot 0 of the table follows on slot `begins` - 1."""

    def __init__(self, cells: Cells, phases: int, n_cells: int, begins: int) -> None:
        self.people, slots = cells.shape
        self._phases, self._n_cells, self._begins = phases, n_cells, begins
        self._rounds = -(-slots // phases)
        padded = np.full((self.people, self._rounds * phases), NOWHERE, dtype=np.int32)
        padded[:, :slots] = cells
        self._trace = padded.reshape(self.people, self._rounds, phases)
        self._times = np.bincount(np.arange(slots) % phases, minlength=phases)
        who, turn, phase = np.nonzero(self._trace != NOWHERE)
        column = phase * n_cells + self._trace[who, turn, phase]
        self._seen = np.bincount(column, minlength=phases * n_cells)
        self._visits = _matrix(np.ones(len(who)), who * self._rounds + turn, column, phases * n_cells)
        self._habits = _matrix(1 / self._times[phase], who, column, phases * n_cells)

    def usual_points(self, targets: Ints, table: Cells) -> Points:
        """Where targets (rows here, and those of `table` in their order) were at the same time before."""
        trace = self._trace[targets]
        who, turn, phase = np.nonzero(trace != NOWHERE)
        key = (who * self._phases + phase) * self._n_cells + trace[who, turn, phase]
        key, often = np.unique(key, return_counts=True)
        key, cell = np.divmod(key, self._n_cells)
        who, phase = np.divmod(key, self._phases)
        phases = self._phase(np.arange(table.shape[1]))
        repeats = np.bincount(phases, minlength=self._phases)
        times = repeats[phase]
        each = np.repeat(np.arange(len(key)), times)
        nth = np.arange(len(each)) - np.repeat(np.cumsum(times) - times, times)
        slot = np.argsort(phases, kind="stable")[(np.cumsum(repeats) - repeats)[phase[each]] + nth]
        order = np.lexsort((cell[each], slot, who[each]))
        each, slot = each[order], slot[order]
        chance = (often[each] + PRIOR) / (self._times[phase[each]] + 2 * PRIOR)
        return self._points(who[each], slot, cell[each], table, chance, often[each], self.people - 1)

    def true_points(self, targets: Ints | None, table: Cells) -> Points:
        """Where targets are in the slots of the table; `targets` are their rows here, None if they were not watched."""
        who, slot = np.nonzero(table != NOWHERE)
        cell = table[who, slot].astype(np.int64)
        if targets is None:
            return self._points(who, slot, cell, table, np.ones(len(who)), np.zeros(len(who)), self.people)
        own = self._trace[targets[who], :, self._phase(slot)] == cell[:, None]
        return self._points(who, slot, cell, table, np.ones(len(who)), own.sum(axis=1), self.people - 1)

    def correlation(self, points: Points, own: slice, row: int | None) -> Floats:
        """How far counts at a target's `own` points go up and down together, the person in `row` left out."""
        slot, cell, seen, watched = points.slot[own], points.cell[own], points.seen[own], points.watched[own]
        columns, place = np.unique(self._phase(slot) * self._n_cells + cell, return_inverse=True)
        rate = (seen + PRIOR) / (watched + 2 * PRIOR)
        spread = np.sqrt(rate * (1 - rate))
        together = _together(self._visits, columns, row, self._rounds)[np.ix_(place, place)]
        together = together / np.minimum(watched[:, None], watched[None, :])
        if self._rounds > 1:
            turn = (self._begins + slot) // self._phases
            apart = _together(self._habits, columns, row, 1)[np.ix_(place, place)] / (self.people - (row is not None))
            together = np.where(turn[:, None] == turn[None, :], together, apart)
        found: Floats = (together - np.outer(seen / watched, seen / watched)) / np.outer(spread, spread)
        np.fill_diagonal(found, 1.0)
        return np.clip(found, -1.0, 1.0)

    def _points(
        self, who: Ints, slot: Ints, cell: Ints, table: Cells, chance: Floats, own: npt.NDArray[np.generic], others: int
    ) -> Points:
        phase = self._phase(slot)
        seen = self._seen[phase * self._n_cells + cell] - own
        watched = (others * self._times[phase]).astype(float)
        return Points(who, slot, cell, seen.astype(float), watched, chance, *_truth(who, slot, cell, table))

    def _phase(self, slot: Ints) -> Ints:
        phase: Ints = (self._begins + slot) % self._phases
        return phase


def unwatched_points(table: Cells) -> Points:
    """Where targets (rows) are in the slots of the table, for an adversary who watched nobody."""
    who, slot = np.nonzero(table != NOWHERE)
    cell = table[who, slot].astype(np.int64)
    nothing = np.zeros(len(who))
    return Points(who, slot, cell, nothing, nothing, np.ones(len(who)), *_truth(who, slot, cell, table))


def _truth(who: Ints, slot: Ints, cell: Ints, table: Cells) -> tuple[npt.NDArray[np.bool_], Ints]:
    return table[who, slot] == cell, np.searchsorted(who, np.arange(len(table)))


def _matrix(values: Floats, row: Ints, column: Ints, columns: int) -> sparse.csc_array:
    rows = int(row.max(initial=-1)) + 1
    return sparse.csc_array((values.astype(np.float32), (row, column)), shape=(rows, columns))


def _together(matrix: sparse.csc_array, columns: Ints, row: int | None, rows_each: int) -> Floats:
    """Sums over rows of the products of columns, those of one person left out."""
    chosen = matrix[:, columns]
    if row is not None:
        chosen.data[chosen.indices // rows_each == row] = 0
    product: Floats = (chosen.T @ chosen).toarray().astype(float)
    return product
