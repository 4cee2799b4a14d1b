"""What a table loses as a picture of a finer one: read back into its cells and slots, and compared.

Whoever has the coarser table and wants the finer one spreads each count evenly over the cells that became one, and
takes it for every slot within its own. The loss is what the two have not in common, as for flows of commuters:
1 - 2 sum min(told, true) / (sum told + sum true), 0 for the same table, 1 where nothing is right or nothing published.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

from trajlab import spatial
from trajlab.release.grid import study_area

if TYPE_CHECKING:
    from trajlab.store import Store


def blur(store: Store, release_id: str, finer_id: str) -> float:
    """The loss of one release as a picture of a finer one."""
    true, published = (
        store.frame("select slot, cell, people from counts.occupancy where release_id = $id order by all", id=one)
        for one in (finer_id, release_id)
    )
    (fine,), (coarse,) = (
        store.rows("select index_id, index_name, slots_per_day from counts.release where release_id = $id", id=one)
        for one in (finer_id, release_id)
    )
    cells = _merged(store, fine, coarse).with_columns(n=pl.len().over("merged"))
    within = fine[2] // coarse[2]
    sizes = cells.select("merged", "n").unique()
    told = published.filter(pl.col("people") > 0).join(sizes, left_on="cell", right_on="merged")
    spread = told.select(long="slot", merged="cell", each=pl.col("people") / pl.col("n"))
    both = (
        true.join(cells, on="cell")
        .with_columns(long=pl.col("slot") // within)
        .join(spread, on=["long", "merged"])
        .select(pl.min_horizontal("people", "each").sum())
        .item()
    )
    people = float(told["people"].sum()) * within + float(true["people"].sum())
    return float(1 - 2 * both / people)


def _merged(store: Store, fine: tuple[int, str, int], coarse: tuple[int, str, int]) -> pl.DataFrame:
    """Which cell of the coarser index each cell of the finer one is part of: the one that its anchor is in."""
    index_id, index_name, _ = fine
    cells = store.frame("select distinct cell, lng, lat from grid.cell where index_id = $id order by cell", id=index_id)
    if index_name == coarse[1]:
        return cells.select("cell", merged="cell")
    ((settings,),) = store.rows("select settings from grid.index where index_id = $id", id=coarse[0])
    box = tuple(json.loads(settings)["box"])
    index = spatial.build(coarse[1], study_area(store, box))
    return cells.select("cell", merged=pl.Series(index.assign(cells["lng"].to_numpy(), cells["lat"].to_numpy())))
