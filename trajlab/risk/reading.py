"""Visits of the lab as a kind of knowledge reads them: joined and summed in the engine, no larger than needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trajlab.query import Query
from trajlab.risk.knowledge import Case

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

    from trajlab.progress import Progress
    from trajlab.store import Store


def open_case(store: Store, release_id: str, known_id: str, searched_id: str, risk_id: str, progress: Progress) -> Case:
    """The question `risk_id`, whose targets are in the lab; nothing large is read before it is wanted."""
    known = StoredVisits(store, known_id, progress)
    searched = known if searched_id == known_id else StoredVisits(store, searched_id, progress)
    ((threads,),) = store.rows("select current_setting('threads')")
    return Case(
        known,
        searched,
        read_targets(store, risk_id),
        lambda: store.frame("select slot, starts from slots.slot where release_id = $id", id=release_id),
        lambda: store.frame(
            "select cell, lat, lng from grid.cell join counts.release using (index_id) where release_id = $id",
            id=release_id,
        ),
        int(threads),
    )


def read_targets(store: Store, risk_id: str) -> pl.DataFrame:
    """Whom the question looks for, in order."""
    return store.frame("select trace, own, lot from metrics.target where risk_id = $id order by trace", id=risk_id)


@dataclass(frozen=True, slots=True)
class StoredVisits:
    """The visits of a set of traces in the lab."""

    store: Store
    traces_id: str
    progress: Progress

    def traces(self) -> pl.Series:
        sql = "select trace from slots.trace where traces_id = $id order by trace"
        return self.store.frame(sql, id=self.traces_id)["trace"]

    def frame(self) -> pl.DataFrame:
        sql = "select trace, slot, cell, visits from slots.visit where traces_id = $id"
        return self.store.frame(sql, id=self.traces_id)

    def places(self) -> pl.DataFrame:
        """Those that are in the lab, else found now; they are kept only where `top` needs them again and again."""
        if self._has_places():
            sql = "select trace, rank, cell, visits, share from metrics.top_place where traces_id = $id"
            return self.store.frame(sql, id=self.traces_id)
        return self.store.frame(Query.load("metrics.top_place").select, traces_id=self.traces_id).drop("traces_id")

    def top(self, places: int, min_share: float) -> pl.DataFrame:
        if not self._has_places():
            with self.progress.step("metrics.top_place", poll=self.store.engine.percent_done):
                self.store.build(Query.load("metrics.top_place"), traces_id=self.traces_id)
        return self.store.frame(
            "select trace, rank, cell from metrics.top_place "
            "where traces_id = $id and (rank <= $places or share >= $min_share)",
            id=self.traces_id,
            places=places,
            min_share=min_share,
        )

    def cells(self) -> pl.Series:
        sql = "select distinct cell from slots.visit where traces_id = $id order by cell"
        return self.store.frame(sql, id=self.traces_id)["cell"]

    def extent(self) -> tuple[int, int]:
        sql = "select coalesce(max(trace), 0), coalesce(max(slot), 0) from slots.visit where traces_id = $id"
        ((last, slot),) = self.store.rows(sql, id=self.traces_id)
        return int(last), int(slot)

    def keys(self, cells: pl.Series, bits: int) -> npt.NDArray[np.int64]:
        ((visits,),) = self.store.rows("select count(*) from slots.visit where traces_id = $id", id=self.traces_id)
        keys = np.empty(visits, dtype=np.int64)
        filled = 0
        with self.store.engine.frames(cells_to_number=cells.to_frame("cell").with_row_index("number")):
            packed = self.store.engine.batches(
                "select (trace::bigint << $bits) + slot * $cells::bigint + number as key "
                "from slots.visit join cells_to_number using (cell) where traces_id = $id",
                {"bits": bits, "cells": len(cells), "id": self.traces_id},
            )
            for batch in packed:
                keys[filled : filled + len(batch)] = batch.column(0).to_numpy()
                filled += len(batch)
        return keys

    def _has_places(self) -> bool:
        found = self.store.rows("select 1 from metrics.top_place where traces_id = $id limit 1", id=self.traces_id)
        return bool(found)
