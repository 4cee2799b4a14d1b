"""Small Parquet files of one layout are read by one statement; their rows are known by file and number there.

How many rows a file has is in its footer, so nothing is read twice but that.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from duckdb import ColumnExpression, ConstantExpression

from trajlab.errors import IngestError
from trajlab.ingest import _csvfile as csvfile
from trajlab.ingest._files import DataFile, Part, Stamp, literal

Layout = tuple[tuple[str, ...], ...]
_OF_THE_ENGINE = {"file_index", "file_row_number", "filename"}


@dataclass(slots=True)
class JoinedParquet:
    header: tuple[str, ...]
    parts: list[Part] = field(default_factory=list)
    stamps: list[Stamp] = field(default_factory=list)
    size: int = 0

    def add(self, file: DataFile, stamp: Stamp, rows: int) -> None:
        self.stamps.append(stamp)
        self.size += stamp.size
        self.parts.append(Part(file.name, csvfile.fingerprint(file), rows, []))

    def relation(self, con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyRelation:
        before = list(itertools.accumulate((part.rows for part in self.parts), initial=0))
        paths = [literal(stamp.file.path) for stamp in self.stamps]
        try:
            with con.cursor() as probe:  # an error on `con` would end the caller's transaction
                probe.sql(_NUMBERED, params={"paths": paths[:1], "before": before[:1]})
        except duckdb.Error as error:
            raise damaged(self.stamps[0].file) from error
        read = con.sql(_NUMBERED, params={"paths": paths, "before": before})
        return read.select(
            ColumnExpression("trajlab_row").alias("source_row"),
            ConstantExpression(None).cast("VARCHAR").alias("fault"),
            *(ColumnExpression(name).alias(f"c{i}") for i, name in enumerate(read.columns[1:])),
        )


_NUMBERED = """
select $before[file_index::bigint + 1] + file_row_number + 1 as trajlab_row, *
from read_parquet($paths, hive_partitioning = false)"""


def read_layout(file: DataFile) -> tuple[Layout, int]:
    """The names of the columns, as they are written, before how each is stored; and the number of rows."""
    try:
        footer = pq.read_metadata(file.path)
        stored = (footer.schema.column(i) for i in range(footer.num_columns))
        kinds = [(column.path, column.physical_type, str(column.logical_type)) for column in stored]
        names = tuple(str(name) for name in footer.schema.to_arrow_schema().names)
    except (OSError, pa.ArrowException) as error:
        raise damaged(file) from error
    csvfile.refuse_too_wide(file, len(names))
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise IngestError(f"{file.name}: column {twice[0]!r} appears twice")
    return (names, *kinds), footer.num_rows


def may_be_joined(header: tuple[str, ...]) -> bool:
    """Whether no column is called like one of the engine's own."""
    return not _OF_THE_ENGINE & {name.lower() for name in header}


def damaged(file: DataFile) -> IngestError:
    return IngestError(f"{file.name}: a damaged or cut-off Parquet file")


def first_damaged(stamps: Iterable[Stamp]) -> DataFile | None:
    """Of files that the engine could not read together, the first that cannot be read alone."""
    for stamp in stamps:
        try:
            pq.read_table(stamp.file.path)
        except (OSError, pa.ArrowException):
            return stamp.file
    return None
