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

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from trajlab.attacks._compiled import compiled

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Small = npt.NDArray[np.int32]


class Stays(NamedTuple):
    """Tracks by cell, or cells by track: those of line i from `first[i]` to `first[i + 1]`, and slots spent there."""

    first: Ints
    other: Small
    spent: Small


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
        self.visited = _lines(row, cell, p, self.size)
        order = np.argsort(other_cell, kind="stable")
        self.visitors = _lines(other_cell[order], column[order], q[order], cells)
        both = np.arange(a + 1)[:, None] + np.arange(b + 1)
        self.gain = (_xlogx(both) - _xlogx(np.arange(a + 1))[:, None] - _xlogx(np.arange(b + 1))) / whole

    def savings(self, rows: Ints, columns: Ints | None) -> csr_array:
        """What pairs of some tracks of the first day with some, or all, of the second save; not stored: nothing."""
        return savings([self], np.zeros((1, self.size)), rows, columns)


def savings(alike: Sequence[Alike], behind: Floats, rows: Ints, columns: Ints | None) -> csr_array:
    """The most that pairs save by one of several first days, less what each day is `behind`; the second is the same."""
    to = alike[0].visitors if columns is None else _only(alike[0].visitors, columns, alike[0].size)
    width = alike[0].size if columns is None else len(columns)
    many = sum(_meetings(each.visited, to, rows) for each in alike)
    column, saving = np.empty(many, dtype=np.int32), np.empty(many)
    ends = np.zeros(len(rows) + 1, dtype=np.int64)
    starts = np.cumsum([0, *(len(each.visited.other) for each in alike)])
    days = Stays(
        np.stack([each.visited.first + start for each, start in zip(alike, starts, strict=False)]),
        np.concatenate([each.visited.other for each in alike]),
        np.concatenate([each.visited.spent for each in alike]),
    )
    meet(rows, days, np.stack([each.gain for each in alike]), behind, to, width, ends, column, saving)
    return csr_array((saving[: ends[-1]], column[: ends[-1]], ends), shape=(len(rows), width))


@compiled
def meet(rows, days, gain, behind, to, width, ends, column, saving):  # type: ignore[no-untyped-def]
    """For every row the columns that share a cell with it, and what the pair saves; `ends` says where rows end."""
    part, best = np.zeros(width), np.zeros(width)
    here, met = np.full(width, -1, np.int64), np.full(width, -1, np.int64)
    meeting = np.empty(width, np.int64)
    at = 0
    for i in range(len(rows)):
        row = rows[i]
        begin = at
        for day in range(len(gain)):
            turn, some = i * len(gain) + day, 0
            for k in range(days.first[day, row], days.first[day, row + 1]):
                cell, spent = days.other[k], days.spent[k]
                for j in range(to.first[cell], to.first[cell + 1]):
                    other = to.other[j]
                    if here[other] != turn:
                        here[other], part[other], meeting[some] = turn, 0.0, other
                        some += 1
                    part[other] += gain[day, spent, to.spent[j]]
            for k in range(some):
                other = meeting[k]
                if met[other] != i:
                    met[other], best[other], column[at] = i, 0.0, other
                    at += 1
                best[other] = max(best[other], part[other] + behind[day, row])
        for k in range(begin, at):
            saving[k] = best[column[k]]
        ends[i + 1] = at


def _meetings(visited: Stays, to: Stays, rows: Ints) -> int:
    """How often tracks of some rows are where others are: at least as many as there are pairs."""
    there = np.concatenate([[0], np.cumsum(np.diff(to.first)[visited.other])])
    return int((there[visited.first[rows + 1]] - there[visited.first[rows]]).sum())


def _only(visitors: Stays, columns: Ints, size: int) -> Stays:
    """The same for some tracks, numbered by their place among `columns`."""
    place = np.full(size, -1)
    place[columns] = np.arange(len(columns))
    kept = place[visitors.other] >= 0
    first = np.concatenate([[0], np.cumsum(kept)])[visitors.first]
    return Stays(first, place[visitors.other[kept]].astype(np.int32), visitors.spent[kept])


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


def _lines(line: Ints, other: Ints, spent: Ints, lines: int) -> Stays:
    """Sorted lines as stays."""
    first = np.searchsorted(line, np.arange(lines + 1))
    return Stays(first, other.astype(np.int32), spent.astype(np.int32))


def _xlogx(count: Ints) -> Floats:
    return count.astype(np.float64) * np.log2(np.maximum(count, 1))
