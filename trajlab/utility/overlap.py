"""How much of each cell lies in each zone: areas once for a pair of indexes, shares in whole billionths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from trajlab.errors import UtilityError
from trajlab.query import Query
from trajlab.spatial import _reference as reference
from trajlab.spatial._projection import LocalMetres
from trajlab.spatial.square import Square

if TYPE_CHECKING:
    from trajlab.release.box import Box
    from trajlab.spatial import Cells, Degrees, Polygons, SpatialIndex
    from trajlab.store import Store
    from trajlab.utility.sides import Side
    from trajlab.utility.targets import Target

WHOLE = 10**9
THINNEST = 0.1
"""Metres: a thinner overlap is what rounding leaves along a border that cell and zone share."""
_BESIDE = 1.0
"""Metres from the nearest zone that are still taken as in it."""

Ints = npt.NDArray[np.int64]


def overlap(store: Store, side: Side, target: Target, box: Box) -> None:
    """Fill grid.overlap for those cells of the side that it lacks."""
    ids = {"index_id": side.index_id, "zones_id": target.index_id}
    known = store.frame(
        "select distinct cell from grid.overlap where index_id = $index_id and zones_id = $zones_id", **ids
    )
    cells = np.setdiff1d(side.cells, known["cell"].to_numpy())
    if not len(cells):
        return
    plane = LocalMetres.centred(box)
    zones = _flat(plane, target.index, target.zones)
    cell, zone, area = common_areas(_flat(plane, target.clipping(side.index), cells), zones)
    nearest, metres = _nearest(zones, plane.forward(*side.index.anchor(cells)))
    outside = np.setdiff1d(np.arange(len(cells)), cell)
    if target.drawn:
        _refuse_outside(side, cells, outside, metres > _BESIDE)
    cell, zone, area = np.r_[cell, outside], np.r_[zone, nearest[outside]], np.r_[area, np.zeros(len(outside))]
    frame = pl.DataFrame(
        {
            "cell": cells[cell],
            "zone": target.zones[zone],
            "billionths": billionths(cell, np.where(np.isin(cell, outside), 1.0, area)),
            "area_km2": area / 1e6,
        }
    ).filter(pl.col("billionths") > 0)
    store.insert("grid.overlap", frame.with_columns(**{name: pl.lit(n, pl.UInt64) for name, n in ids.items()}))
    store.check_grain(Query.load("grid.overlap"), **ids)


def _flat(plane: LocalMetres, index: SpatialIndex, cells: Cells) -> Polygons:
    """Polygons in metres: squares as they are, others from degrees, edges cut first, as they bend on the way."""
    import shapely

    if isinstance(index, Square) and index.plane == plane:
        return index.flat(cells)
    return plane.to_metres(shapely.segmentize(index.polygon(cells), 0.01))


def _nearest(zones: Polygons, xy: tuple[Degrees, Degrees]) -> tuple[Ints, Degrees]:
    """The zone that each point is in or nearest to, of several the first, and how far it is."""
    import shapely

    (point, zone), metres = shapely.STRtree(zones).query_nearest(shapely.points(*xy), return_distance=True)
    order = np.lexsort((zone, point))
    first = order[np.r_[True, np.diff(point[order]) > 0]]
    return zone[first].astype(np.int64), metres[first]


def common_areas(cells: Polygons, zones: Polygons) -> tuple[Ints, Ints, npt.NDArray[np.float64]]:
    """Positions of cell and zone, and the area that they share, of all that share some; ordered by both."""
    import shapely

    shapely.prepare(zones)
    cell, zone = shapely.STRtree(zones).query(cells, predicate="intersects")
    order = np.lexsort((zone, cell))
    cell, zone = cell[order], zone[order]
    within = shapely.contains_properly(zones[zone], cells[cell])
    shared = cells[cell]
    shared[~within] = shapely.intersection(cells[cell[~within]], zones[zone[~within]])
    real = wider_than(shared, THINNEST)
    return cell[real].astype(np.int64), zone[real].astype(np.int64), np.asarray(shapely.area(shared[real]))


def wider_than(shapes: Polygons, metres: float) -> npt.NDArray[np.bool_]:
    """Whether shapes are wider on average, area by half the length of their border; a line or a point is not."""
    import shapely

    return np.asarray(2 * shapely.area(shapes) > metres * shapely.length(shapes))


def billionths(group: Ints, amount: npt.NDArray[np.float64]) -> Ints:
    """Shares of the amounts within their groups (one after another), in whole billionths that add up to a whole each.

    Rounded down, then what is missing goes to the largest remainders, of equal ones to the first.
    """
    starts = np.flatnonzero(np.r_[True, group[1:] != group[:-1]]) if len(group) else np.zeros(0, np.int64)
    size = np.diff(np.r_[starts, len(group)])
    which = np.repeat(np.arange(len(starts)), size)
    exact = amount / np.add.reduceat(amount, starts)[which] * WHOLE if len(group) else amount
    share = np.floor(exact).astype(np.int64)
    missing = WHOLE - np.add.reduceat(share, starts) if len(group) else share
    order = np.lexsort((np.arange(len(group)), share - exact, which))
    rank = np.arange(len(group)) - np.repeat(starts, size)
    share[order] += np.where(rank < np.abs(missing[which]), np.sign(missing[which]), 0)
    return share


def _refuse_outside(side: Side, cells: Cells, unshared: Ints, beyond: npt.NDArray[np.bool_]) -> None:
    """Masts that stand outside every zone, and cells that neither share area with one nor have their centre in it."""
    stations = side.index.name.startswith("stations")
    lost = cells[beyond] if stations else cells[unshared[beyond[unshared]]]
    if len(lost):
        raise UtilityError(
            f"{len(lost):,} of {len(side.cells):,} {'stations' if stations else 'cells'} lie outside the zones: "
            f"{reference.few(side.index.label(lost))}; give zones that hold them, or leave their records out "
            "(a box, outside='drop')"
        )
