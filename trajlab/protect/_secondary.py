"""Secondary suppression: which further counts to leave out, so that totals do not give back the small ones.

A reader may know the total of every slot, and those of the larger cells that cells merge into. One count
that is left out alone follows from a total by subtraction; so do several, where all of them are as large as the
rule allows. Larger cells are a table of their own: a total below k is left out there too, and the cells of all larger
cells that are left out share one total. In every group of cells that share a total, at least two are
left out, and not all of them at k - 1.
"""

from __future__ import annotations

import polars as pl


def hidden(counts: pl.DataFrame, cells: pl.DataFrame, k: int) -> pl.DataFrame:
    """The counts (`slot, cell, people, contributors`), which of them are `hidden`, and whose larger cell is.

    One more count in a group always suffices: the first that is hidden besides those below k is above k - 1.
    The smallest is taken, the one with the smallest number among equals.
    """
    table = counts.join(_parents(cells), on="cell", how="left", maintain_order="left").with_columns(
        hidden=pl.col("contributors") < k
    )
    table = table.join(_hidden_parents(table, k), on=["slot", "parent"], how="left", maintain_order="left")
    # A larger cell whose total is left out needs a count left out in it, or adding up would give it back.
    table = _hide_one(table, ["slot", "parent"], pl.col("parent_hidden") & ~pl.col("hidden").any())
    table = _hide_one(table, ["slot", "parent"], ~pl.col("parent_hidden") & _open(pl.col("hidden"), k))
    pooled = pl.col("hidden") & pl.col("parent_hidden")
    table = _hide_one(table, ["slot"], _open(pooled, k), among=pl.col("parent_hidden"))
    table = table.with_columns(newly=_smallest(["slot"], _open(pooled, k)))
    return table.with_columns(
        hidden=pl.col("hidden") | pl.col("newly"),
        parent_hidden=pl.col("parent_hidden") | pl.col("newly").any().over("slot", "parent"),
    ).drop("parent", "newly")


def _parents(cells: pl.DataFrame) -> pl.DataFrame:
    """The larger cell of each; where cells are their own larger cells, the whole slot is all that is added up."""
    own = cells["parent_cell"].is_null() | (cells["parent_cell"] == cells["cell"])
    parent = pl.lit(0, pl.UInt64) if own.all() else pl.coalesce("parent_cell", "cell")
    return cells.select("cell", parent=parent).unique("cell")


def _hidden_parents(table: pl.DataFrame, k: int) -> pl.DataFrame:
    """Larger cells whose totals are left out: small ones, and one more where that one would be alone."""
    parents = table.group_by("slot", "parent").agg(
        pl.col("people", "contributors").sum(),
        helpless=pl.col("hidden").all() & (pl.col("contributors") == k - 1).all(),
    )
    alone = pl.len().over("slot") == 1
    parents = parents.with_columns(
        hidden=((pl.col("contributors") < k) | pl.col("helpless")) & ~alone, cell=pl.col("parent")
    )
    return _hide_one(parents, ["slot"], _open(pl.col("hidden"), k)).select("slot", "parent", parent_hidden="hidden")


def _open(of: pl.Expr, k: int) -> pl.Expr:
    """Whether what is hidden in a group follows from its total: one alone, or all at k - 1."""
    at_most = (pl.col("contributors") == k - 1) | ~of
    return of.any() & ((of.sum() == 1) | at_most.all())


def _hide_one(table: pl.DataFrame, group: list[str], wanted: pl.Expr, among: pl.Expr | None = None) -> pl.DataFrame:
    return table.with_columns(hidden=pl.col("hidden") | _smallest(group, wanted, among))


def _smallest(group: list[str], wanted: pl.Expr, among: pl.Expr | None = None) -> pl.Expr:
    """The smallest count that is not hidden yet, in each group where one is wanted."""
    free = ~pl.col("hidden") if among is None else ~pl.col("hidden") & among
    place = free.cast(pl.Int64).cum_sum().over(group, order_by=["contributors", "cell"])
    return free & (place == 1) & wanted.over(group)
