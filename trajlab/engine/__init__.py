"""Where SQL runs: one Protocol, one file per engine, found by its file name.

A lab asks an engine for the few things below and for nothing else. Reading files into `records` and a
reader's own SELECTs (`lab.sql`) are the embedded engine's business and use its connection.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from trajlab import plugins
from trajlab.errors import ContractError

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

Params = Mapping[str, object] | None


class Engine(Protocol):
    """Relations are built, read and changed through this; values are always bound as `$name`."""

    path: str

    def execute(self, sql: str, params: Params = None) -> None: ...

    def rows(self, sql: str, params: Params = None) -> list[tuple[Any, ...]]: ...

    def frame(self, sql: str, params: Params = None) -> pl.DataFrame: ...

    def batches(self, sql: str, params: Params = None) -> pa.RecordBatchReader:
        """The answer in parts, for what is larger than memory; nothing else may be asked before it is read."""
        ...

    def blocks(self, sql: str, params: Params = None, *, rows: int) -> AbstractContextManager[pa.RecordBatchReader]:
        """The same of what was committed before, in blocks of so many rows; others may be asked meanwhile."""
        ...

    def insert(self, table: str, frame: pl.DataFrame) -> None:
        """Append a frame whose columns stand as in the table."""
        ...

    def frames(self, **frames: pl.DataFrame | pa.RecordBatchReader) -> AbstractContextManager[None]:
        """SQL inside the block can read these frames by their names."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing: what the block did is kept when it ends, and undone when it raises."""
        ...

    def copy_relations(self, file: str, *, rows_of: str) -> bool:
        """Make the relations of another lab's file here, with their comments and the rows of one table.

        All or nothing; False where the file cannot be read.
        """
        ...

    def percent_done(self) -> float:
        """How far the statement that runs now is, 0 to 100; below 0 where that is not known."""
        ...

    def close(self) -> None: ...


def names() -> list[str]:
    return plugins.names(__name__)


def load(name: str) -> type[Any]:
    """The class of the engine of that name; its constructor takes a path, memory_limit, threads and read_only."""
    engine: type[Any] | None = getattr(plugins.load(__name__, name, "engine"), "ENGINE", None)
    if engine is None:
        raise ContractError(f"trajlab/engine/{name}.py is no engine: it defines no ENGINE")
    return engine
