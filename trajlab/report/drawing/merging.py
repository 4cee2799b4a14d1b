"""Cells too small to be seen apart, drawn together: squares on the paper, each with the mean of the cells in it.

Cells that can be seen keep their outlines. Where even those are too many for a page, squares grow until the rest fits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_FEW = 2_000
"""Up to so many merged cells are drawn twice as large, because they stand alone."""
_GROWTH = 1.5

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Squares:
    """Squares in a raster: column and row, how many cells each holds, their mean, and the first of them."""

    side: int
    column: Ints
    row: Ints
    cells: Ints
    mean: Floats
    first: Ints
    member: Ints
    """The merged cells, and below the square of each."""
    square: Ints

    def paths(self) -> list[str]:
        """SVG path data of each square."""
        corners = zip((self.column * self.side).tolist(), (self.row * self.side).tolist(), strict=True)
        return [f"M{x} {y}h{self.side}v{self.side}h-{self.side}z".replace(" -", "-") for x, y in corners]

    def rows_of(self, some: Ints) -> str:
        """SVG path data of some of the squares, those side by side as one."""
        order = some[np.lexsort((self.column[some], self.row[some]))]
        column, row = self.column[order], self.row[order]
        begins = np.ones(len(order), dtype=bool)
        begins[1:] = (row[1:] != row[:-1]) | (column[1:] != column[:-1] + 1)
        starts = np.flatnonzero(begins)
        lengths = np.diff(np.append(starts, len(order)))
        strips = zip(column[starts].tolist(), row[starts].tolist(), lengths.tolist(), strict=True)
        side = self.side
        return "".join(f"M{x * side} {y * side}h{n * side}v{side}h-{n * side}z" for x, y, n in strips).replace(
            " -", "-"
        )


def merge(
    centres: Floats, sizes: Floats, values: Floats, inside: Mask, most: int, *, smallest: int
) -> tuple[Mask, Squares]:
    """Which cells are drawn by themselves, and the squares that hold the others: at most so many shapes in all.

    Centres and sizes are those of the cells on the paper; only cells inside the view are drawn. Cells smaller than
    the smallest square are merged.
    """
    side = smallest
    while True:
        small = inside & (sizes < side)
        squares = _squares(centres, values, np.flatnonzero(small), side * 2 if small.sum() <= _FEW else side)
        if int((inside & ~small).sum()) + len(squares.cells) <= most:
            return inside & ~small, squares
        side = round(side * _GROWTH)


def _squares(centres: Floats, values: Floats, small: Ints, side: int) -> Squares:
    at = np.floor(centres[small] / side).astype(np.int64)
    column, row = at[:, 0], at[:, 1]
    wide = int(np.ptp(column)) + 1 if len(column) else 1
    key = (row - row.min(initial=0)) * wide + column - (column.min() if len(column) else 0)
    _, first, which, cells = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    mean = np.bincount(which, weights=values[small], minlength=len(cells)) / np.maximum(cells, 1)
    return Squares(side, column[first], row[first], cells.astype(np.int64), mean, small[first], small, which)
