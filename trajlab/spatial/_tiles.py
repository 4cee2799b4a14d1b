"""A shortcut for millions of points: tiles of the map that lie in one cell as a whole.

The exact question (which mast is nearest, which zone holds the point) costs around a
microsecond a point. A table of tiles answers it at once where the whole tile has
one answer; only points of the other tiles, along the borders, are asked exactly.
Which tiles are safe is for the caller to prove, so the shortcut changes no answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from trajlab.spatial import Degrees

Positions = npt.NDArray[np.int64]
WORTH_IT = 1_000_000
"""Points from which building a table pays."""


@dataclass(frozen=True)
class Tiles:
    """`answer[row * n + column]` is the answer for that tile of the box, or -1 for "ask"."""

    box: tuple[float, float, float, float]
    n: int
    answer: Positions

    def ask(self, lon: Degrees, lat: Degrees, exact: Callable[[Degrees, Degrees], Positions]) -> Positions:
        """The tile's answer where it has one, else that of `exact`."""
        west, south, east, north = self.box
        column = (lon - west) * (self.n / (east - west))
        row = (lat - south) * (self.n / (north - south))
        outside = (column < 0) | (column >= self.n) | (row < 0) | (row >= self.n)
        column[outside] = row[outside] = 0
        tile = row.astype(np.int32)
        tile *= np.int32(self.n)
        tile += column.astype(np.int32)
        found = self.answer.take(tile)
        found[outside] = -1
        unsure = np.flatnonzero(found < 0)
        if unsure.size:
            found[unsure] = exact(lon[unsure], lat[unsure])
        return found


def refine(box: tuple[float, float, float, float], levels: int, decide: Callable[[Degrees], Positions]) -> Tiles:
    """A table of 2^levels tiles each way; a tile still undecided is cut in four and asked again.

    `decide` gets rows west, south, east, north, widened beyond any rounding in `Tiles.ask`,
    and says the answer that holds all over the tile, or -1.
    """
    west, south, east, north = box
    answer = np.full((1, 1), -1, dtype=np.int64)
    for level in range(levels + 1):
        row, column = np.nonzero(answer < 0)
        across, along = (east - west) / 2**level, (north - south) / 2**level
        x, y = west + column * across, south + row * along
        slack = 1e-9 * (1 + max(across, along))
        boxes = np.column_stack([x - slack, y - slack, x + across + slack, y + along + slack])
        answer[row, column] = decide(boxes)
        if level < levels:
            answer = answer.repeat(2, axis=0).repeat(2, axis=1)
    return Tiles(box, 2**levels, answer.ravel())
