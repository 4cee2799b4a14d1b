"""The study box: the part of the map that indexes know where nobody names one.

A rectangle around tiles that a crowd was in; it depends on the records and on nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from trajlab.errors import ReleaseError
from trajlab.query import step

if TYPE_CHECKING:
    from typing import Any

    from trajlab.store import Store

Box = tuple[float, float, float, float]
EVERYWHERE: Box = (-180.0, -90.0, 180.0, 90.0)
TILES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Degrees: sides of the tiles that the default study box is made of, the finest that will do."""
HELD = 0.95
"""Share of the records that the default study box must hold."""
CROWD = 10
"""People whom a tile must have seen to count; with fewer than twenty in the lab, half of them."""
_BOXES: WeakKeyDictionary[Store, tuple[str, Box]] = WeakKeyDictionary()
"""The records and the box of each lab that is open."""


def default_box(store: Store, records: str) -> Box:
    """The default box, found once for the records that the lab has now: every release asks for it."""
    known, box = _BOXES.get(store, ("", EVERYWHERE))
    if known != records:
        box = inhabited_box(store)
        _BOXES[store] = records, box
    return box


def inhabited_box(store: Store) -> Box:
    """All tiles in which enough people were and one more around, of the finest tiles that leave out few records.

    The box is published. Each of its sides says that a crowd was in a tile, whoever is in it, and nothing of
    anybody who went further alone; stray positions fall outside for the same reason.
    """
    people, records, placed = store.totals(
        "select count(distinct person) as people, count(*) as records, count(lat) as placed from records.fix",
        "sum(people), sum(records), sum(placed)",
    )[0]
    if records == 0:
        raise ReleaseError("the lab holds no records: ingest some first (lab.ingest, trajlab ingest)")
    if placed == 0:
        return EVERYWHERE  # named places without coordinates: the box plays no part
    crowd = max(1, min(CROWD, people // 2), people // 1000)
    for side in TILES:
        tiles = store.totals(step("2_grid/_tiles"), "sum(people), sum(records)", per_degree=1 / side)
        x, y, visitors, held = np.array(tiles, dtype=np.int64).T
        crowded = visitors >= crowd
        if not crowded.any():
            continue
        across = _around_the_antimeridian(x[crowded] * side)
        if across:
            x = np.where(x < 0, x + round(360 / side), x)
        west, south = x[crowded].min() - 1, y[crowded].min() - 1  # one more: outskirts, where fewer people live
        east, north = x[crowded].max() + 1, y[crowded].max() + 1
        inside = (x >= west) & (x <= east) & (y >= south) & (y <= north)
        if held[inside].sum() >= HELD * placed:
            edges = [round(float(edge) * side, 1) for edge in (west, south, east + 1, north + 1)]
            turn = 360.0 if edges[0] >= 180 else 0.0  # wholly east of the antimeridian
            left, right = max(edges[0] - turn, -180.0), min(edges[2], 360.0 if across else 180.0) - turn
            return (round(left, 1), max(edges[1], -90.0), round(right, 1), min(edges[3], 90.0))
    return EVERYWHERE


def _around_the_antimeridian(lon: np.ndarray[Any, Any]) -> bool:
    """Whether an empty half of the globe lies elsewhere, and less than 10 degrees are empty there."""
    seen = np.unique(lon)
    return bool(seen[0] + 360 - seen[-1] < 10 and np.diff(seen).max(initial=0) >= 180)


def box_text(box: Box) -> str:
    """Its sides in a message: west, south, east, north."""
    return ", ".join(f"{side:g}" for side in box)
