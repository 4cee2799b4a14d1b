"""What each published table says of its counts, by itself, and which tables count the same people in the same places.

A *block* is a table of true counts, slots × columns: a column is a cell, or a cell and a group where a cube is
published. Tables of several thresholds are of one block, since they say something of the same counts. Every cell
in which anybody of the lab was ever seen is a column: a reader who knows the map knows as much or less.
"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from trajlab.errors import DifferencingError
from trajlab.protect import COUNTS, load_recipe
from trajlab.query import step
from trajlab.release import Release
from trajlab.release.known import Known, known
from trajlab.release.truth import unprotected_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trajlab.store import Store

Ints = npt.NDArray[np.int64]
Columns = npt.NDArray[np.intp]
FREE = ("min_count", "protect")
"""Settings of a release that change what is told of its counts, and not the counts."""


@dataclass(frozen=True, eq=False)
class Table:
    """One published table: from where to where each true count lies by its recipe alone, and with its flows.

    `total` is how many people are in every slot at least and at most, where that is published.
    """

    id: str
    release_id: str
    cube_id: str | None
    recipe: str
    low: Ints
    high: Ints
    flow_low: Ints
    flow_high: Ints
    total: tuple[int, int] | None


@dataclass(frozen=True, eq=False)
class Block:
    """True counts that one or several tables are about, and when and where their slots and columns are.

    `truth` is for choosing which sums hold, and for nothing else; it is None where the lab does not know it.
    """

    key: str
    index_id: int
    index_name: str
    starts: dt.datetime
    slot_seconds: int
    slots: int
    cells: npt.NDArray[np.uint64]
    labels: list[str]
    values: list[str] | None
    release_id: str
    truth: Ints | None
    tables: tuple[Table, ...]

    @property
    def columns(self) -> int:
        return len(self.cells)

    def name(self, column: int) -> str:
        """What a reader calls a column: `h3:8 881f…`, and the group where there is one."""
        group = "" if self.values is None else f" of {self.values[column]}"
        return f"{self.index_name} {self.labels[column]}{group}"


def read(store: Store, ids: Sequence[str], notes: list[str]) -> list[Block]:
    """The blocks of all tables that can be subtracted from each other; noisy ones cannot, and a note says so."""
    blocks: dict[str, Block] = {}
    for each in ids:
        found = _read_cube(store, each) if each.startswith("c") and _is_cube(store, each) else _read(store, each)
        if found is None:
            notes.append(
                f"{each} has noise on every count: no sum of others is equal to it, its ε is in report.published"
            )
        elif found.key in blocks:
            there = blocks[found.key]
            blocks[found.key] = replace(there, tables=(*there.tables, *found.tables))
        else:
            blocks[found.key] = found
    return sorted(blocks.values(), key=lambda block: (-block.columns, block.slot_seconds, block.key))


def is_noisy(recipe: str) -> bool:
    return any(hasattr(protection, "claim") for protection in load_recipe(recipe.split()))


def _is_cube(store: Store, each: str) -> bool:
    return bool(store.rows("select 1 from study.cube where cube_id = $id", id=each))


def _read(store: Store, release_id: str) -> Block | None:
    (row,) = store.frame("select * from counts.release where release_id = $id", id=release_id).to_dicts()
    if is_noisy(row["recipe"]):
        return None
    made = store.rows("select settings, fingerprint from study.release where release_id = $id", id=release_id)
    truth_id = unprotected_id(store, release_id)
    true_counts = _true_counts(store, truth_id) if made else None
    counts = store.frame("select slot, cell, people from counts.occupancy where release_id = $id", id=release_id)
    cells = _cells(store, truth_id, row["index_id"], counts, true_counts)
    low, high = _known(row, counts, cells["cell"], row["min_count"])
    everybody = bool(made) and row["fill"] != "none"
    by_flows = _narrowed_by_flows(store, row, cells["cell"].to_numpy(), low, high, everybody=everybody)
    total = None if row["total_low"] is None else (row["total_low"] if everybody else 0, row["total_high"])
    if total is not None and (low.sum(axis=1) > total[1]).any():
        raise DifferencingError(
            f"release {release_id} lists more people in a slot than the {total[1]:,} whom it is about: check the total"
        )
    table = Table(release_id, release_id, None, row["recipe"], low, high, *by_flows, total)
    return Block(
        key=_key(*made[0]) if made else release_id,
        **_place(row, cells["cell"], cells["label"].to_list()),
        values=None,
        truth=None if true_counts is None else _matrix(true_counts, cells["cell"], row["slots"]),
        tables=(table,),
    )


def _read_cube(store: Store, cube_id: str) -> Block | None:
    """A cube as a table whose columns are groups and cells, those in which somebody of the group ever is."""
    (cube,) = store.frame("select * from study.cube where cube_id = $id", id=cube_id).to_dicts()
    if is_noisy(cube["recipe"]):
        return None
    release_id = cube["release_id"]
    (row,) = store.frame("select * from counts.release where release_id = $id", id=release_id).to_dicts()
    true_counts = store.frame(
        step("6_metrics/_true_cube"), release_id=unprotected_id(store, release_id), grouping_id=cube["grouping_id"]
    )
    names = store.frame("select cell, label from grid.cell where index_id = $id", id=row["index_id"])
    pairs = true_counts.select("value", "cell").unique().sort("value", "cell")
    pairs = pairs.join(names, on="cell", how="left", maintain_order="left").with_row_index("column")
    pairs = pairs.with_columns(pl.col("column").cast(pl.UInt64))
    listed = store.frame("select slot, value, cell, people from counts.cube where cube_id = $id", id=cube_id)
    low, high = _known(row | {"recipe": cube["recipe"]}, _by_column(listed, pairs), pairs["column"], cube["min_count"])
    truth = _matrix(_by_column(true_counts, pairs), pairs["column"], row["slots"])
    table = Table(cube_id, release_id, cube_id, cube["recipe"], low, high, low, high, None)
    return Block(
        key=f"cube {cube['grouping_id']} {release_id}",
        **_place(row, pairs["cell"], pairs["label"].to_list()),
        values=pairs["value"].to_list(),
        truth=truth,
        tables=(table,),
    )


def _key(settings: str, fingerprint: str) -> str:
    """The same for two releases whose true counts are the same, whatever is told of them."""
    given = {name: value for name, value in json.loads(settings).items() if name not in FREE}
    if given.get("people") is None:
        given.pop("seed", None)  # nobody was drawn
    return json.dumps([given, fingerprint], sort_keys=True)


def _place(row: dict[str, Any], cells: pl.Series, labels: list[str]) -> dict[str, Any]:
    named = {name: row[name] for name in ("index_id", "index_name", "starts", "slot_seconds", "slots", "release_id")}
    return named | {"cells": cells.to_numpy(), "labels": labels}


def _true_counts(store: Store, release_id: str) -> pl.DataFrame:
    return store.frame(
        "select slot, cell, count(*) as people from slots.position where release_id = $id group by slot, cell",
        id=release_id,
    )


def _cells(
    store: Store, truth_id: str, index_id: int, counts: pl.DataFrame, true_counts: pl.DataFrame | None
) -> pl.DataFrame:
    """The cells that somebody may be in, with what people call them, in the order of their ids."""
    frames = [counts.select("cell")]
    if true_counts is not None:
        frames += [
            true_counts.select("cell"),
            store.frame(step("4_counts/_domain"), release_id=truth_id).select("cell"),
        ]
    there = pl.concat(frames).unique().sort("cell")
    names = store.frame("select cell, label from grid.cell where index_id = $id", id=index_id)
    if true_counts is None:  # somebody else's table: the cells that it has
        there = pl.concat([there, names.select("cell")]).unique().sort("cell")
    return there.join(names, on="cell", how="left", maintain_order="left").with_columns(
        label=pl.coalesce("label", pl.col("cell").cast(pl.String))
    )


def _known(row: dict[str, Any], counts: pl.DataFrame, cells: pl.Series, min_count: int) -> tuple[Ints, Ints]:
    """What the recipe leaves to know of every slot and column, the total aside."""
    release = Release(
        id=row["release_id"],
        counts=counts,
        cells=pl.DataFrame({"cell": cells}),
        slots=row["slots"],
        slots_per_day=row["slots_per_day"],
        start=row["starts"],
        min_count=min_count if not row["recipe"] else 1,
        recipe=tuple(row["recipe"].split()),
    )
    found = known(release)
    return found.low.astype(np.int64), found.high.astype(np.int64)


def _matrix(counts: pl.DataFrame, cells: pl.Series, slots: int) -> Ints:
    dense = np.zeros((slots, len(cells)), dtype=np.int64)
    column = np.searchsorted(cells.to_numpy(), counts["cell"].to_numpy())
    dense[counts["slot"].to_numpy(), column] = counts["people"].to_numpy()
    return dense


def _by_column(counts: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    joined = counts.join(pairs.select("value", "cell", "column"), on=["value", "cell"], how="inner")
    return joined.select("slot", "people", cell="column")


def _narrowed_by_flows(
    store: Store, row: dict[str, Any], cells: npt.NDArray[np.uint64], low: Ints, high: Ints, *, everybody: bool
) -> tuple[Ints, Ints]:
    """Whoever is in a cell comes from somewhere and goes somewhere: flows add up to the counts at both ends.

    Flows that are not listed add what the recipe leaves for them. Where people may be missing from a slot, flows add
    up to the count at most.
    """
    flows = store.frame(
        "select slot, origin, destination, people from counts.flow where release_id = $id", id=row["release_id"]
    )
    if not len(flows):
        return low, high
    low, high = low.copy(), high.copy()
    listed = _undone(row, flows["people"].to_numpy(), np.ones(len(flows), dtype=bool))
    unlisted = _undone(row, np.zeros(1, dtype=np.int64), np.zeros(1, dtype=bool))
    slot = flows["slot"].to_numpy()
    for end, later in (("origin", 0), ("destination", 1)):
        place = (slot + later) * len(cells) + np.searchsorted(cells, flows[end].to_numpy())
        lows, highs, number = (
            np.bincount(place, weights, low.size).astype(np.int64).reshape(low.shape)
            for weights in (listed.low, listed.high, np.ones(len(place)))
        )
        whole = slice(1, None) if later else slice(0, len(low) - 1)
        np.maximum(low[whole], lows[whole], out=low[whole])
        if everybody:
            room = highs + (len(cells) - number) * int(unlisted.high[0])
            np.minimum(high[whole], room[whole], out=high[whole])
    return low, high


def _undone(row: dict[str, Any], numbers: Ints, listed: npt.NDArray[np.bool_]) -> Known:
    found = Known(numbers, numbers)
    for protection in reversed(load_recipe(row["recipe"].split())):
        if protection.protects == COUNTS:
            found = protection.undo(found, listed, row["slots_per_day"])
    if row["min_count"] > 1:
        (suppress,) = load_recipe(f"suppress:{row['min_count']}")
        found = suppress.undo(found, listed, row["slots_per_day"])
    return found
