"""How alike two days of tracks are: the information gain of joining them (xu2017, eq. 4).

G(U, V) = H(U + V) − (H(U) + H(V)) / 2 on the cells' frequencies, in bits; H(U + V) is of the
two days put together. Written out, everything in G but the sum over cells that U and V
share is a term of U plus a term of V, and a term of a row or of a column changes no
assignment. So what a pair *saves* against two days that share no cell is

    1/N · Σ over shared cells (p + q)·log2(p + q) − p·log2 p − q·log2 q

with p and q slots spent there and N slots in all. For days of equal length two that share
nothing have G = 1, and G is the Jensen–Shannon divergence.

Slots outside all cells are shared by nobody: two who are both nowhere need not be in one place.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Alike:
    """Pairs of tracks of two days, tracks × slots each, with what joining them saves."""

    def __init__(self, first: Ints, second: Ints, cells: int) -> None:
        self.size = len(first)
        a, b = first.shape[1], second.shape[1]
        whole = a + b
        row, cell, p = _stays(first, cells)
        column, other_cell, q = _stays(second, cells)
        self.row_term = (1 / (2 * a) - 1 / whole) * np.bincount(row, _xlogx(p), self.size)
        self.column_term = (1 / (2 * b) - 1 / whole) * np.bincount(column, _xlogx(q), self.size)
        self.constant = float(np.log2(whole) - (np.log2(a) + np.log2(b)) / 2)
        row, cell, p = _inside(row, cell, p, cells)
        column, other_cell, q = _inside(column, other_cell, q, cells)
        # One inner index for each (cell, slots spent there) of the first day: the gain with every
        # track of the second day that was in the cell is then a product of two sparse matrices.
        kind, inner = np.unique(cell * (a + 1) + p, return_inverse=True)
        self._left = _rows(np.ones(len(row)), inner, np.searchsorted(row, np.arange(self.size + 1)), len(kind))
        order = np.argsort(other_cell, kind="stable")
        begins = np.searchsorted(other_cell[order], np.arange(cells + 1))
        there, spent = kind // (a + 1), kind % (a + 1)
        count = begins[there + 1] - begins[there]
        pointer = np.concatenate([[0], np.cumsum(count)])
        member = order.astype(np.int32)[np.arange(pointer[-1]) + np.repeat(begins[there] - pointer[:-1], count)]
        both = np.arange(a + 1)[:, None] + np.arange(b + 1)
        gain = (_xlogx(both) - _xlogx(np.arange(a + 1))[:, None] - _xlogx(np.arange(b + 1))) / whole
        self._some: tuple[Ints, csr_array] | None = None
        self._right = _rows(gain[np.repeat(spent, count), q[member]], column[member], pointer, self.size)

    def savings(self, rows: Ints, columns: Ints | None) -> csr_array:
        """What pairs of some tracks of the first day with some, or all, of the second save; not stored: nothing."""
        if columns is None:
            return self._left[rows] @ self._right
        if self._some is None or self._some[0] is not columns:
            self._some = columns, self._right[:, columns]
        return self._left[rows] @ self._some[1]


def shares(days: Ints, cells: int) -> csr_array:
    """Tracks × cells: the share of their slots that they spent there."""
    row, cell, spent = _inside(*_stays(days, cells), cells)
    return csr_array((spent / days.shape[1], (row, cell)), shape=(len(days), cells))


def _stays(day: Ints, cells: int) -> tuple[Ints, Ints, Ints]:
    """Track, cell and slots spent there, for each cell that a track was in; number `cells` is outside."""
    places = cells + 1
    visit, spent = np.unique((np.arange(len(day))[:, None] * places + day).ravel(), return_counts=True)
    return visit // places, visit % places, spent


def _inside(track: Ints, cell: Ints, spent: Ints, cells: int) -> tuple[Ints, Ints, Ints]:
    here = cell < cells
    return track[here], cell[here], spent[here]


def _rows(value: Floats, column: Ints, pointer: Ints, columns: int) -> csr_array:
    """A sparse matrix with small numbers for indices where they will do: half the memory to go through."""
    small = np.int32 if max(len(value), columns) < 2**31 else np.int64
    return csr_array((value, column.astype(small), pointer.astype(small)), shape=(len(pointer) - 1, columns))


def _xlogx(count: Ints) -> Floats:
    return count.astype(np.float64) * np.log2(np.maximum(count, 1))
