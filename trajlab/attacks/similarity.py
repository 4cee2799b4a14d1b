"""How alike two days of tracks are: the information gain of joining them (xu2017, eq. 4).

G(U, V) = H(U + V) − (H(U) + H(V)) / 2 on the cells' frequencies, in bits; H(U + V) is of the
two days put together. Written out, everything in G but the sum over cells that U and V
share is a term of U plus a term of V, and a term of a row or of a column changes no
assignment. So what a pair *saves* against two days that share no cell is

    1/N · Σ over shared cells (p + q)·log2(p + q) − p·log2 p − q·log2 q

with p and q slots spent there and N slots in all. For days of equal length two that share
nothing have G = 1, and G is the Jensen–Shannon divergence.
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
        # One inner index for each (cell, slots spent there) of the first day: the gain with every
        # track of the second day that was in the cell is then a product of two sparse matrices.
        kind, inner = np.unique(cell * (a + 1) + p, return_inverse=True)
        self._left = csr_array((np.ones(len(row)), (row, inner)), shape=(self.size, len(kind)))
        order = np.argsort(other_cell, kind="stable")
        begins = np.searchsorted(other_cell[order], np.arange(cells + 1))
        there, spent = kind // (a + 1), kind % (a + 1)
        count = begins[there + 1] - begins[there]
        pointer = np.concatenate([[0], np.cumsum(count)])
        member = order[np.arange(pointer[-1]) + np.repeat(begins[there] - pointer[:-1], count)]
        p, q = np.repeat(spent, count), q[member]
        gain = (_xlogx(p + q) - _xlogx(p) - _xlogx(q)) / whole
        self._right = csr_array((gain, column[member], pointer), shape=(len(kind), self.size))

    def savings(self, start: int, stop: int) -> csr_array:
        """What pairs of tracks `start` to `stop` of the first day save; not stored: nothing."""
        return self._left[start:stop] @ self._right


def _stays(day: Ints, cells: int) -> tuple[Ints, Ints, Ints]:
    """Track, cell and slots spent there, for each cell that a track was in."""
    visit, spent = np.unique((np.arange(len(day))[:, None] * cells + day).ravel(), return_counts=True)
    return visit // cells, visit % cells, spent


def _xlogx(count: Ints) -> Floats:
    return count.astype(np.float64) * np.log2(count)
