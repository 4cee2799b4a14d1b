"""Lists that are the very same: how many lists equal one, item by item.

Equal lists are counted once and the count is looked up, so that ten times the lists cost ten times the time.
"""

from __future__ import annotations

import polars as pl


def count_alike(
    known: pl.DataFrame, searched: pl.DataFrame, wanted: pl.DataFrame, holders: int, *, ordered: bool
) -> pl.DataFrame:
    """A row for each list `wanted` (holder, own), in their order: known, k, found.

    `known` and `searched` hold items as (holder, rank, key). `known` is how many items the list has, `k` how many
    of those searched are the same, `found` whether its own is. A list without items equals all `holders`.
    Without `ordered` only which items there are counts, not their ranks.
    """
    theirs = _lists(searched, ordered=ordered)
    mine = theirs if known is searched else _lists(known, ordered=ordered)
    distinct = theirs.group_by("keys").agg(k=pl.len().cast(pl.Int64)).with_row_index("number")
    own = theirs.join(distinct.select("keys", "number"), on="keys").select(own="holder", own_number="number")
    return (
        wanted.select("holder", "own")
        .join(mine, on="holder", how="left", maintain_order="left")
        .join(distinct, on="keys", how="left", maintain_order="left")
        .join(own, on="own", how="left", maintain_order="left")
        .select(
            known=pl.col("keys").list.len().cast(pl.Int32).fill_null(0),
            k=pl.when(pl.col("keys").is_null()).then(pl.lit(holders, pl.Int64)).otherwise(pl.col("k").fill_null(0)),
            found=pl.when(pl.col("keys").is_null())
            .then(pl.col("own").is_not_null())
            .otherwise((pl.col("own_number") == pl.col("number")).fill_null(value=False)),
        )
    )


def _lists(items: pl.DataFrame, *, ordered: bool) -> pl.DataFrame:
    in_order = items.sort("holder", "rank" if ordered else "key")
    return in_order.group_by("holder", maintain_order=True).agg(keys="key")
