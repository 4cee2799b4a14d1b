"""Any source as a table that the engine can scan, whatever it was before; small files many at a time.

Columns are renamed by position (`c0`, `c1`, ...) before the engine sees them: names from
users' files never become part of a query. Nothing is loaded whole: Parquet and frames are
scanned where they are, readers that can be read only once go through a temporary table.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

import duckdb
import pyarrow as pa
from duckdb import ColumnExpression, ConstantExpression, FunctionExpression

from trajlab.errors import IngestError
from trajlab.ingest import _csvfile as csvfile
from trajlab.ingest._files import DataFile, Part, Stamp, find, literal
from trajlab.ingest._joined_files import JoinedFile, JoinedFiles
from trajlab.ingest._joined_parquet import JoinedParquet, damaged, read_layout

_LOOKED_AT = 1000
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{4}/\d{1,2}/\d{1,2}|\d{8}|\d{1,2}[.]\d{1,2}[.]\d{4}", re.ASCII)
_CLOCK = re.compile(r"\d{1,2}:\d{1,2}(?::\d{1,2}(?:[.]\d+)?)?(?: *(?:[zZ]|[+-]\d{2}(?::?\d{2})?))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    columns: dict[str, str]
    """The user's name of each column -> its name in `relation`."""
    relation: duckdb.DuckDBPyRelation
    """`source_row` from 1, `fault` (a reason known from the start, mostly null), and the columns."""
    fingerprint: str | None = None
    """Of the content alone; None where only the engine can compute it."""
    slow_to_scan: bool = False
    """Scanning costs so much that what is read should be stored for the second scan."""
    repaired: bool = False
    """Bytes that are not UTF-8 were replaced by U+FFFD."""
    notes: list[str] = field(default_factory=list)
    rows: int | None = None
    """Lines that were counted without the engine, which must find as many; None where it alone can count."""
    commas: tuple[str, ...] = ()
    """Columns whose numbers have a decimal comma."""
    stamps: tuple[Stamp, ...] = ()
    """Files that are read more than once, as they were the first time."""
    parts: tuple[Part, ...] = ()
    """The sources in this table, row after row, where there are several."""


def open_records(
    con: duckdb.DuckDBPyConnection, source: object, cleanup: ExitStack, notes: list[str]
) -> Iterator[Table]:
    """Like `open_tables`, with small files of one layout in one table.

    Parquet does not wait for CSV that comes later, nor the other way round: files of a folder with both
    are read in their order, here and by the tasks of a cluster.
    """
    joined = JoinedFiles(cleanup)
    before: bool | None = None
    for item in _items(source):
        if not isinstance(item, str | os.PathLike | DataFile):
            yield from _joined_tables(con, joined.rest())
            yield open_frame(con, item)
            continue
        files, left_out = ([item], []) if isinstance(item, DataFile) else find([item])
        notes += left_out
        for file in files:
            is_csv = _is_csv(file)
            if is_csv is not before:
                yield from _joined_tables(con, joined.rest())
            before = is_csv
            if is_csv:
                content = joined.content(file)
                full = None if content is None else joined.add(file, content)
            else:
                full = joined.add_parquet(file)
            if full is None:
                yield from _joined_tables(con, joined.rest())
                yield open_file(con, file, cleanup)
            else:
                yield from _joined_tables(con, full)
    yield from _joined_tables(con, joined.rest())


def open_tables(
    con: duckdb.DuckDBPyConnection, source: object, cleanup: ExitStack, notes: list[str]
) -> Iterator[Table]:
    """One table after another; each is valid until the next is asked for."""
    for item in _items(source):
        if isinstance(item, str | os.PathLike):
            files, left_out = find([item])
            notes += left_out
            for file in files:
                yield open_file(con, file, cleanup)
        else:
            yield open_frame(con, item)


def replace_commas(table: Table, columns: list[str]) -> Table:
    """The table with decimal points where the named columns have commas."""
    short = {table.columns[name] for name in columns}
    comma, point = ConstantExpression(","), ConstantExpression(".")
    columns_with_points = [
        FunctionExpression("replace", ColumnExpression(c), comma, point).alias(c) if c in short else ColumnExpression(c)
        for c in table.relation.columns
    ]
    names = ", ".join(repr(name) for name in columns)
    note = f"{table.name}: numbers in {names} have decimal commas"
    return replace(table, relation=table.relation.select(*columns_with_points), notes=[*table.notes, note])


def join_date_and_clock(table: Table, date: str, clock: str) -> tuple[Table, str] | None:
    """The table with one more column, the times that both columns make, and its name; None where they make none.

    They do where, as far as a first look goes, most of the one are dates and most of the other are clocks.
    """
    blank, both, name = ConstantExpression(" "), "joined_time", f"{date} {clock}"
    day, hour = (ColumnExpression(table.columns[column]).cast("VARCHAR") for column in (date, clock))
    try:
        looked_at = table.relation.select(day.alias("day"), hour.alias("hour")).limit(_LOOKED_AT).fetchall()
    except duckdb.Error:
        return None  # reading the whole says what is wrong with it
    written = [(a.strip(), b.strip()) for a, b in looked_at if a and b]
    fits = [pair for pair in written if _DATE.fullmatch(pair[0]) and _CLOCK.fullmatch(pair[1])]
    if name in table.columns or 2 * len(fits) <= len(written):
        return None
    trimmed = FunctionExpression("trim", day)
    dashed = FunctionExpression(
        "regexp_replace",
        trimmed,
        ConstantExpression("^([0-9]{4})([0-9]{2})([0-9]{2})$"),
        ConstantExpression(r"\1-\2-\3"),
    )
    whole = FunctionExpression("||", FunctionExpression("||", dashed, blank), FunctionExpression("trim", hour))
    relation = table.relation.select(*map(ColumnExpression, table.relation.columns), whole.alias(both))
    note = f"{table.name}: times are {date!r} and {clock!r} together"
    columns = {**table.columns, name: both}
    return replace(table, relation=relation, columns=columns, notes=[*table.notes, note]), name


def _items(source: object) -> list[object]:
    items = list(source) if isinstance(source, list | tuple) else [source]
    if not items:
        raise IngestError("nothing to ingest: the list is empty")
    return items


def open_file(con: duckdb.DuckDBPyConnection, file: DataFile, cleanup: ExitStack) -> Table:
    if not _is_csv(file):
        return _parquet(con, file)
    stamp = Stamp.of(file)
    csv = csvfile.open_csv(con, file, cleanup)
    return Table(
        name=file.name,
        columns={name: f"c{i}" for i, name in enumerate(csv.head.header)},
        relation=csv.relation,
        fingerprint=csv.fingerprint,
        slow_to_scan=True,
        repaired=csv.repaired,
        notes=csv.notes,
        rows=csv.rows,
        commas=csv.head.commas,
        stamps=(stamp,),
    )


def _is_csv(file: DataFile) -> bool:
    """By its content, whatever its name; False for Parquet."""
    try:
        with file.path.open("rb") as opened:
            magic = opened.read(4)
    except OSError as error:
        raise IngestError(f"{file.name}: cannot be opened: {error.strerror}") from error
    if not magic:
        raise IngestError(f"{file.name}: the file is empty")
    if magic != b"PAR1" and file.name.lower().endswith((".parquet", ".pq")):
        raise IngestError(f"{file.name}: not a Parquet file, in spite of its name")
    return magic != b"PAR1"


def _joined_tables(con: duckdb.DuckDBPyConnection, files: list[JoinedFile | JoinedParquet]) -> Iterator[Table]:
    for file in files:
        first, others = file.parts[0], len(file.parts) - 1
        header = file.head.header if isinstance(file, JoinedFile) else file.header
        table = Table(
            name=f"{first.name} and {others:,} more" if others else first.name,
            columns={name: f"c{i}" for i, name in enumerate(header)},
            relation=file.relation(con),
            slow_to_scan=True,
            rows=sum(part.rows for part in file.parts),
            parts=tuple(file.parts),
        )
        if isinstance(file, JoinedFile):
            yield replace(table, repaired=file.repaired, commas=file.head.commas)
            file.path.unlink()
        else:
            yield replace(table, stamps=tuple(file.stamps))


def _parquet(con: duckdb.DuckDBPyConnection, file: DataFile) -> Table:
    stamp = Stamp.of(file)
    (names, *_), _ = read_layout(file)
    numbered = "file_row_number" not in {name.lower() for name in names}
    query = _NUMBERED if numbered else _UNNUMBERED
    try:
        with con.cursor() as probe:  # an error on `con` would end the caller's transaction
            engine_names = probe.sql(query, params={"path": literal(file.path)}).columns[1:]
    except duckdb.Error as error:
        raise damaged(file) from error
    return Table(
        name=file.name,
        columns={name: f"c{i}" for i, name in enumerate(names)},
        relation=con.sql(query, params={"path": literal(file.path)}).select(
            ColumnExpression("trajlab_row").alias("source_row"),
            ConstantExpression(None).cast("VARCHAR").alias("fault"),
            *(ColumnExpression(name).alias(f"c{i}") for i, name in enumerate(engine_names[: len(names)])),
        ),
        fingerprint=csvfile.fingerprint(file),
        stamps=(stamp,),
    )


_NUMBERED = """
select file_row_number + 1 as trajlab_row, *
from read_parquet($path, file_row_number = true, hive_partitioning = false)"""

# Where a column of the file is called like the engine's own number of the row.
_UNNUMBERED = """
select row_number() over () as trajlab_row, *
from read_parquet($path, hive_partitioning = false)"""


def open_frame(con: duckdb.DuckDBPyConnection, frame: object) -> Table:
    name = f"{type(frame).__module__.split('.')[0]} {type(frame).__name__}"
    arrow = _arrow(frame, name)
    columns = [str(column) for column in arrow.schema.names]
    twice = sorted({c for c in columns if columns.count(c) > 1})
    if twice:
        raise IngestError(f"{name}: column {twice[0]!r} appears twice")
    short = [f"c{i}" for i in range(len(columns))]
    if isinstance(arrow, pa.RecordBatchReader):
        fields = [f.with_name(c) for f, c in zip(arrow.schema, short, strict=True)]
        batches = (batch.rename_columns(short) for batch in arrow)
        con.register("ingest_frame", pa.RecordBatchReader.from_batches(pa.schema(fields), batches))
        con.execute(
            "create or replace temp table ingest_read_once as"
            " select row_number() over () as source_row, * from ingest_frame"
        )
        con.unregister("ingest_frame")
        query = "select null::varchar as fault, * from ingest_read_once"
    else:
        con.register("ingest_frame", arrow.rename_columns(short))
        query = "select row_number() over () as source_row, null::varchar as fault, * from ingest_frame"
    return Table(name=name, columns=dict(zip(columns, short, strict=True)), relation=con.sql(query))


def frame_fingerprint(con: duckdb.DuckDBPyConnection, table: Table) -> str:
    """Number of rows and sum of their hashes: the same whatever the order of rows and columns."""
    columns = [ColumnExpression(table.columns[name]) for name in sorted(table.columns)]
    con.register("ingest_raw", table.relation.select(FunctionExpression("hash", *columns).alias("h")))
    ((rows, total),) = con.sql("select count(*), sum(h) from ingest_raw").fetchall()
    return f"frame:{rows}:{total}"


def _arrow(frame: object, name: str) -> Any:
    """An Arrow table or reader over the frame, without a copy where the frame allows it."""
    if isinstance(frame, pa.Table | pa.RecordBatchReader):
        return frame
    module = type(frame).__module__.split(".")[0]
    try:
        if module == "pandas":
            return _pandas(frame)
        if module == "polars" and type(frame).__name__ == "LazyFrame":
            return _lazy(frame.collect_batches(maintain_order=True))  # type: ignore[attr-defined]
        if hasattr(frame, "__arrow_c_stream__"):
            return pa.table(frame)
    except IngestError:
        raise
    except Exception:  # frames fail in ways of their own, and their words may quote records
        raise IngestError(f"{name}: cannot be read; do its columns mix types, or repeat a name?") from None
    raise IngestError(
        f"cannot read a {name}: give a file, a folder, a list of them, or a polars, pandas or Arrow frame"
    )


def _pandas(frame: Any) -> pa.Table:
    """An Arrow table; times that Arrow would bend into one zone are written out instead."""
    for column in frame.columns:
        kind = str(frame[column].dtype)
        if kind.startswith("period"):
            raise IngestError(
                f"pandas DataFrame: column {column!r} holds periods: turn them into times, .dt.to_timestamp()"
            )
        if kind == "object" and frame[column].map(lambda value: hasattr(value, "tzinfo")).any():
            written = frame[column].map(lambda value: value.isoformat() if hasattr(value, "isoformat") else value)
            frame = frame.assign(**{column: written.where(frame[column].notna(), None)})
    return pa.Table.from_pandas(frame, preserve_index=False)


def _lazy(frames: Iterator[Any]) -> pa.RecordBatchReader:
    first = next(frames, None)
    if first is None:
        raise IngestError("polars LazyFrame: no data rows")
    first = first.to_arrow()

    def batches() -> Iterator[pa.RecordBatch]:
        yield from first.to_batches()
        for frame in frames:
            yield from frame.to_arrow().cast(first.schema).to_batches()

    return pa.RecordBatchReader.from_batches(first.schema, batches())
