"""Millions of points at once: checked, cut into blocks, placed by several threads.

A block is small enough for the processor's cache, so that temporaries cost little,
and numpy, polars and shapely let go of the interpreter lock, so that threads help.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from trajlab.errors import SpatialError

if TYPE_CHECKING:
    from trajlab.spatial import Cells, Degrees

_THREADS = min(8, os.cpu_count() or 1)


def assign_in_blocks(
    lon: npt.ArrayLike, lat: npt.ArrayLike, place: Callable[[Degrees, Degrees], Cells], size: int = 1 << 16
) -> Cells:
    """The cells that `place` gives to every block; no point is placed twice or left out.

    Missing or impossible coordinates are counted over all blocks and then refused.
    """
    lon, lat = (np.asarray(values, dtype=np.float64) for values in (lon, lat))
    if lon.shape != lat.shape or lon.ndim != 1:
        raise SpatialError(f"longitudes {lon.shape} and latitudes {lat.shape} must be two lists of one length")
    cells = np.empty(lon.size, dtype=np.uint64)

    def one(start: int) -> int:
        part = slice(start, start + size)
        east, north = lon[part], lat[part]
        good = (np.abs(east) <= 180) & (np.abs(north) <= 90)  # false for NaN too
        if not good.all():
            return int(good.size - np.count_nonzero(good))
        cells[part] = place(east, north)
        return 0

    starts = range(0, lon.size, size)
    if len(starts) <= 1:
        bad = sum(map(one, starts))
    else:
        with ThreadPoolExecutor(_THREADS) as pool:
            bad = sum(pool.map(one, starts))
    if bad:
        raise SpatialError(
            f"{bad} of {lon.size} points have no place on the globe (longitude missing or outside "
            "-180..180, or latitude missing or outside -90..90); drop or mend them first"
        )
    return cells


def known(cells: npt.ArrayLike, count: int, name: str) -> npt.NDArray[np.int64]:
    """The cells as positions 0..count-1 of a list; others are refused."""
    ids = np.asarray(cells).astype(np.uint64, copy=False)
    refuse_unknown(ids >= np.uint64(count), name)
    return ids.astype(np.int64)


def refuse_unknown(unknown: npt.NDArray[np.bool_], name: str) -> None:
    """Raise when any cell is not one of the index called `name`."""
    count = int(np.count_nonzero(unknown))
    if count:
        raise SpatialError(f"{count} of {unknown.size} cells are not cells of {name}")
