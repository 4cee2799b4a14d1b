"""Groups of people, and what their table holds at a few points with and without a target.

Everybody in a group is drawn at random. A group is used for many targets: where a target has to be in it
and is not, the first member makes room; where a target must not be in it and is, somebody from outside
steps in. Either way the others are a random draw, and the group has its size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trajlab.membership.reference import NOWHERE, Points

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Cells = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of people; `spare` is not one of them."""

    members: Ints
    spare: int


class Crowd:
    """Everybody who may be in a group (rows of `traces`), and the targets among them with their points."""

    def __init__(self, traces: Cells, n_cells: int, targets: Ints, points: Points) -> None:
        self.traces, self.n_cells, self.targets, self.points = traces, n_cells, targets, points
        pairs, self._pair = np.unique(points.target * n_cells + points.cell, return_inverse=True)
        who, slot = np.nonzero(traces[targets] != NOWHERE)
        cell = traces[targets[who], slot]
        key = who * n_cells + cell
        place = np.minimum(np.searchsorted(pairs, key), max(len(pairs) - 1, 0))
        matters = pairs[place] == key if len(pairs) else np.zeros(len(key), dtype=bool)
        self._who, self._slot, self._cell = who[matters], slot[matters], cell[matters]
        self._entry_pair, self._pairs = place[matters], len(pairs)

    def draw(self, size: int, rng: np.random.Generator) -> Group:
        drawn = rng.permutation(len(self.traces))[: size + 1]
        return Group(drawn[:size], int(drawn[size]))

    def table(self, members: Ints) -> Ints:
        """Counts (slots × cells) of a group."""
        cells = self.traces[members]
        slots = cells.shape[1]
        key = np.arange(slots)[None, :] * self.n_cells + cells
        counts: Ints = np.bincount(key[cells != NOWHERE], minlength=slots * self.n_cells)
        return counts.reshape(slots, self.n_cells)

    def counts_at(self, group: Group, table: Ints, inside: Bools) -> Ints:
        """The group's counts at the points of every target, once targets are `inside` or outside as they have to be."""
        points = self.points
        changes, sign = self._changes(group, inside)
        other = np.where(
            inside[points.target],
            self.traces[group.members[0], points.slot] == points.cell,
            self.traces[group.spare, points.slot] == points.cell,
        )
        shift = sign * (points.present.astype(np.int64) - other)
        found: Ints = table[points.slot, points.cell] + np.where(changes[points.target], shift, 0)
        return found

    def totals_at(self, group: Group, by_cell: Floats, gain: Floats, loss: Floats, inside: Bools) -> Floats:
        """The total of the cell at each point after the same change.

        `gain` and `loss` (slots × cells) are what one person more or less adds to or takes from what is published.
        """
        changes, sign = self._changes(group, inside)
        entry = (self._slot, self._cell)
        own = np.where(inside[self._who], gain[entry], loss[entry])
        of_pair = np.bincount(self._entry_pair, weights=own, minlength=self._pairs)
        cell = self.points.cell
        leaver, comer = self._of_cells(group.members[0], loss), self._of_cells(group.spare, gain)
        other = np.where(inside[self.points.target], leaver[cell], comer[cell])
        shift = sign * (of_pair[self._pair] - other)
        found: Floats = by_cell[cell] + np.where(changes[self.points.target], shift, 0.0)
        return found

    def _changes(self, group: Group, inside: Bools) -> tuple[Bools, Ints]:
        """Which targets are on the wrong side, and at every point whether the target comes (1) or leaves (-1)."""
        member = np.zeros(len(self.traces), dtype=bool)
        member[group.members] = True
        return member[self.targets] != inside, np.where(inside, 1, -1)[self.points.target]

    def _of_cells(self, row: int, change: Floats) -> Floats:
        slot = np.flatnonzero(self.traces[row] != NOWHERE)
        cell = self.traces[row, slot]
        found: Floats = np.bincount(cell, weights=change[slot, cell], minlength=self.n_cells).astype(float)
        return found
