"""What every list holds, as arrays: its elements, in groups of equal ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Lists:
    """The groups of all lists, one list after another.

    A group is an item and how many equal elements the list has of it. Where order matters,
    groups are in that order and an item may come back; where it does not, each item is there once
    and the rarest come first, so that a search that goes from left to right is alone
    with one list as early as can be.
    """

    first: Ints
    """Where the groups of each list begin; one more than there are lists."""
    item: Ints
    size: Ints
    """Elements in the group."""
    end: Ints
    """Where the groups of the same list end."""
    after: Ints
    """Elements of the list after this group."""
    before: Ints
    """The previous group of the list with the same item; -1 where there is none."""
    value: Floats | None
    """What is known of the item besides: a number that has to fit."""

    @property
    def elements(self) -> Ints:
        """How many elements each list has."""
        running = np.concatenate([[0], np.cumsum(self.size)])
        counted: Ints = running[self.first[1:]] - running[self.first[:-1]]
        return counted

    @property
    def owner(self) -> Ints:
        """The list of each group."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))


def number_items(frames: list[pl.DataFrame]) -> tuple[list[pl.DataFrame], int]:
    """The frames with a column `item` instead of key and label, and how many items there are.

    The fewer lists of the first frame have an item, the lower its number.
    """
    names = ["key", "label"]
    had = frames[0].group_by(names).agg(lists=pl.col("holder").n_unique())
    rarest_first = (
        pl.concat([had.select(names), *(frame.select(names) for frame in frames[1:])])
        .unique()
        .join(had, on=names, how="left", nulls_equal=True)
        .sort(pl.col("lists").fill_null(0), *names)
        .with_row_index("item")
        .select(*names, pl.col("item").cast(pl.Int64))
    )
    numbered = [
        frame.join(rarest_first, on=names, how="left", nulls_equal=True).drop("label").rename({"key": "key_order"})
        for frame in frames
    ]
    return numbered, len(rarest_first)


def build_lists(frame: pl.DataFrame, holders: pl.Series, *, ordered: bool) -> Lists:
    """The groups of `holders`, in their order; rows of `frame` (holder, at, item, n, value) of others are left out."""
    number = pl.DataFrame({"holder": holders}).with_row_index("number")
    rows = frame.join(number, on="holder").sort("number", *(["at", "key_order"] if ordered else ["item"]))
    owner, item, size = (rows[name].cast(pl.Int64).to_numpy() for name in ("number", "item", "n"))
    value = None if rows["value"].null_count() else rows["value"].to_numpy()
    if ordered:  # equal elements in a row are one group
        begins = np.ones(len(item), bool)
        begins[1:] = (owner[1:] != owner[:-1]) | (item[1:] != item[:-1])
        starts = np.flatnonzero(begins)
        owner, item = owner[starts], item[starts]
        size = np.add.reduceat(size, starts) if len(starts) else size
    first = np.searchsorted(owner, np.arange(len(holders) + 1))
    end = np.repeat(first[1:], np.diff(first))
    running = np.cumsum(size)
    after = running[end - 1] - running
    before = np.full(len(item), -1)
    alike = np.lexsort((np.arange(len(item)), item, owner))
    same = (owner[alike][1:] == owner[alike][:-1]) & (item[alike][1:] == item[alike][:-1])
    before[alike[1:][same]] = alike[:-1][same]
    return Lists(first, item, size, end, after, before, value if len(item) else None)
