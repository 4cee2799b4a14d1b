"""Beyond one machine: the same files, each run in DuckDB on a shard of the people.

A cluster lab is a folder that every worker sees under the same path. People are spread over
shards by the md5 of their id. What grows with them (`LARGE`) is Parquet there, a file for each
shard; all else is in `lab.duckdb` beside it, which has a view over each large table.

    folder.py     the folder: which tables are finished, and where their files are
    merging.py    how rows of shards become one
    shard.py      what a task does: the unchanged SQL file or Python step, on one shard
    store.py      a `Store` whose large tables are built by tasks
    ingest.py     files to records: read apart, spread by person, numbered, cleaned
    risk.py       questions about re-identification
    crowds/       how many traces fit, when nobody sees all traces: one file for each way to find out
    exchange.py   rows that tasks leave for each other
    lottery.py    who is drawn from everybody, without anybody seeing everybody
    lab.py        the verbs that run here, and one message for those that do not
    local.py      tasks one after another in this process
    spark.py      tasks on Apache Spark
    plan.py       what a study would take, by formula
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

MIXED = (
    "slots.trace", "slots.visit", "metrics.top_place", "metrics.target", "metrics.anonymity", "metrics.known_point",
)  # fmt: skip
"""Large tables to which the embedded engine adds rows of its own: those are in `lab.duckdb`, in the schema `here`."""
LARGE = (
    "records.fix", "records.person", "records.rejected", "records.call", "grid.fix", "slots.observed", "slots.person",
    "slots.interpolated", "slots.position", *MIXED,
)  # fmt: skip
"""Tables that grow with the number of people: Parquet, a file for each shard."""


class Runner(Protocol):
    """Where tasks run. A task may be run twice, or be cut off and run again elsewhere."""

    def run(self, task: Callable[[int], Any], tasks: int, doing: str) -> list[Any]:
        """What `task(0)`, `task(1)`, ... return, in this order; it must be small."""
        ...

    def spread(self, files: Sequence[Path], by: str, folder: Path, parts: int) -> None:
        """Write the rows of Parquet files to `folder/<by>=<value>/`; `by` is a column with values below `parts`."""
        ...
