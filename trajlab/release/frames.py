"""Counts per slot with polars, for pipelines that hold positions in a frame.

The same counts as `sql/4_counts/occupancy.sql` and `flow.sql`; a law test holds the
two together.
"""

from __future__ import annotations

import polars as pl


def occupancy(positions: pl.DataFrame | pl.LazyFrame, *, min_count: int = 1) -> pl.DataFrame:
    """People per slot and cell, from one row per person and slot (`person, slot, cell`).

    Counts below `min_count` are left out, not set to zero.
    """
    return (
        positions.lazy()
        .group_by("slot", "cell")
        .agg(people=pl.col("person").n_unique().cast(pl.Int64))
        .filter(pl.col("people") >= min_count)
        .sort("slot", "cell")
        .collect()
    )


def flow(positions: pl.DataFrame | pl.LazyFrame, *, min_count: int = 1) -> pl.DataFrame:
    """People per slot, origin and destination, between each slot and the one right after it."""
    here = positions.lazy().select("person", "slot", origin="cell")
    there = positions.lazy().select("person", slot=pl.col("slot") - 1, destination="cell")
    return (
        here.join(there, on=["person", "slot"])
        .group_by("slot", "origin", "destination")
        .agg(people=pl.len().cast(pl.Int64))
        .filter(pl.col("people") >= min_count)
        .sort("slot", "origin", "destination")
        .collect()
    )
