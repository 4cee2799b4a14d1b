"""Rows that the tasks of one job leave for those of the next: each task writes one file, sorted by who is to read it.

A file is cut into blocks of rows that know their smallest and largest address, so that a task reads of each file
little more than what is for it. Files are whole or not there; they go when the question is answered.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from trajlab.cluster.folder import Folder, text_literal, unfinished
from trajlab.cluster.shard import ShardStore

ROWS = 16_384
"""Of a block that is read as a whole."""
TO = "to_task"
"""The column that says which task is to read the row."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One step of a question, of which task `number` writes its files, `part` by part."""

    folder: Folder
    question: str
    name: str

    def path(self, number: int, part: int = 0) -> Path:
        return self.folder.work(self.question, self.name, f"{number:05d}-{part:05d}.parquet")

    def leave(self, rows: pl.DataFrame, number: int, part: int = 0) -> int:
        """Write rows, sorted by the task that is to read them where they say so; returns how many they are."""
        path = self.path(number, part)
        new = unfinished(path)
        in_order = rows.sort(TO, maintain_order=True) if TO in rows.columns else rows
        in_order.write_parquet(new, compression="zstd", row_group_size=ROWS)
        os.replace(new, path)  # noqa: PTH105
        return len(rows)

    def find(self, store: ShardStore, files: Iterable[Path], task: int | None = None) -> pl.DataFrame:
        """The rows of these files, those for one task or all, in the order of the files."""
        listed = ", ".join(text_literal(str(file)) for file in files)
        if task is None:
            return store.frame(f"select * from read_parquet([{listed}])")  # noqa: S608
        return store.frame(f"select * exclude ({TO}) from read_parquet([{listed}]) where {TO} = $task", task=task)  # noqa: S608
