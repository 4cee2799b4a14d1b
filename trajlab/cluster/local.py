"""Tasks one after another in this process: for tests, and to see what a cluster would do."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb

from trajlab.cluster.folder import text_literal


class Local:
    """A `Runner` without a cluster; tasks and results are pickled all the same."""

    def run(self, task: Callable[[int], Any], tasks: int, doing: str) -> list[Any]:
        sent = pickle.dumps(task)
        return [pickle.loads(pickle.dumps(pickle.loads(sent)(number))) for number in range(tasks)]

    def spread(self, files: Sequence[Path], by: str, folder: Path, parts: int) -> None:
        listed = ", ".join(text_literal(str(file)) for file in files)
        with duckdb.connect() as con:
            con.execute(
                f"copy (select * from read_parquet([{listed}])) to {text_literal(str(folder))} "  # noqa: S608
                f"(format parquet, partition_by ({by}), overwrite)"
            )
