"""The two sides of a comparison: the cells of a release, and the cells that it is generalised to.

A generalisation moves whole cells: a cell of the release becomes the larger cell that its anchor falls in, the mast
or the centre. For base stations merged by squares that is yin2015's procedure to the letter; for grids the
anchor stands for all points of its cell.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from trajlab import spatial
from trajlab.errors import SpatialError, UtilityError
from trajlab.query import Query
from trajlab.release.box import Box
from trajlab.release.grid import add_cells, study_area
from trajlab.release.truth import unprotected_id
from trajlab.spatial._projection import LocalMetres

if TYPE_CHECKING:
    from trajlab.spatial import Cells, SpatialIndex
    from trajlab.store import Store


@dataclass(frozen=True)
class Side:
    """An index, the id of its rows in grid.*, and those of its cells that hold somebody."""

    index: SpatialIndex
    index_id: int
    cells: Cells


@dataclass(frozen=True)
class Before:
    """The release whose people move, and its cells."""

    release_id: str
    side: Side
    box: Box
    slots: int


def before(store: Store, release_id: str) -> Before:
    """A release that the lab made, and so knows the records of."""
    found = store.rows(
        "select index_id, slots, min_count, recipe from counts.release where release_id = $id", id=release_id
    )
    if not found:
        raise UtilityError(f"release {release_id} is not in this lab, which has no records to see anybody move in")
    ((index_id, slots, min_count, recipe),) = found
    if recipe:
        raise UtilityError(
            f"release {release_id} is protected ({recipe}): before must be complete, so compare with the release that "
            f"it was made from, {unprotected_id(store, release_id)}"
        )
    if not store.rows("select 1 from slots.person where release_id = $id limit 1", id=release_id):
        raise UtilityError(f"release {release_id} was made elsewhere: the lab has no records to see anybody move in")
    if min_count > 1:
        raise UtilityError(
            f"release {release_id} leaves out counts below {min_count} itself: before must be complete, so compare "
            "with a release of min_count=1"
        )
    return Before(release_id, side_of(store, release_id), box_of(store, index_id), slots)


def side_of(store: Store, release_id: str) -> Side:
    """The cells of a release of the lab."""
    ((index_id, index_name),) = store.rows(
        "select index_id, index_name from counts.release where release_id = $id", id=release_id
    )
    try:
        index = spatial.build(index_name, study_area(store, box_of(store, index_id)))
    except SpatialError as error:
        raise UtilityError(
            f"the {index_name.partition(':')[0]} of the lab were changed after release {release_id} was made, whose "
            "cells are built on them: make the release again"
        ) from error
    side = Side(index, index_id, cells_of(store, index_id))
    _refuse_nowhere(side)
    return side


def generalised(store: Store, origin: Side, spec: str, box: Box) -> Side:
    """The larger cells that the cells of `origin` become; which becomes which is in grid.generalised."""
    index = spatial.build(spec, study_area(store, box))
    coarse_id = identity(index, "generalised", list(box))
    ids = {"index_id": origin.index_id, "coarse_id": coarse_id}
    made = "select cell, coarse from grid.generalised where index_id = $index_id and coarse_id = $coarse_id"
    new = np.setdiff1d(origin.cells, store.frame(made, **ids)["cell"].to_numpy())
    if len(new):
        mapped = {"cell": new, "coarse": index.assign(*origin.index.anchor(new))}
        typed = {name: pl.lit(number, pl.UInt64) for name, number in ids.items()}
        store.insert("grid.generalised", pl.DataFrame(mapped).with_columns(**typed))
        store.check_grain(Query.load("grid.generalised"), **ids)
    cells = np.unique(store.frame(made, **ids)["coarse"].to_numpy())
    described(store, index, coarse_id, cells, box)
    return Side(index, coarse_id, cells)


def identity(index: SpatialIndex, use: str, *more: object) -> int:
    """The id of an index by what it is, apart from the ids of those that records were given cells of."""
    text = json.dumps([use, index.name, index.settings, *more], sort_keys=True)
    return int(hashlib.sha256(text.encode()).hexdigest()[:12], 16)


def described(store: Store, index: SpatialIndex, index_id: int, cells: Cells, box: Box) -> None:
    """Rows of grid.index and grid.cell, so that a reader finds out what a cell or a zone is."""
    if not store.rows("select 1 from grid.index where index_id = $id", id=index_id):
        centre = LocalMetres.amid(box)
        row = {
            "index_id": index_id,
            "name": index.name,
            "settings": json.dumps({**index.settings, "box": box}, sort_keys=True),
            "lon0": centre.lon0,
            "lat0": centre.lat0,
        }
        store.insert("grid.index", pl.DataFrame([row]))
    add_cells(store, index, index_id, cells)


def box_of(store: Store, index_id: int) -> Box:
    """The study box that an index of the lab was built on."""
    ((settings,),) = store.rows("select settings from grid.index where index_id = $id", id=index_id)
    west, south, east, north = json.loads(settings)["box"]
    return (west, south, east, north)


def cells_of(store: Store, index_id: int) -> Cells:
    found = store.frame("select cell from grid.cell where index_id = $id order by cell", id=index_id)
    return found["cell"].to_numpy()


def _refuse_nowhere(side: Side) -> None:
    lost = int(np.isnan(side.index.anchor(side.cells)[0]).sum())
    if lost:
        raise UtilityError(
            f"{lost} of {len(side.cells)} cells of {side.index.name} have no coordinates: nobody can say which "
            "larger cell or zone they fall in"
        )
