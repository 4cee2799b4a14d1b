"""Events of multimno, Eurostat's pipeline: a folder of Parquet files `year=…/month=…/day=…[/user_id_modulo=…]`.

An event has a binary `user_id`, a `timestamp`, a `cell_id` or its own `latitude` and `longitude`; the rest of its
columns (mcc, mnc, plmn, loc_error) is not needed. `stations=` takes the pipeline's table of cells (cell_id, latitude,
longitude), a folder too. People are called by the hexadecimal digits of their ids. Every day is one source, so a
folder that grew by a day adds that day. Cleaned events carry instants, raw ones carry text in a zone to be named.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from trajlab.errors import IngestError
from trajlab.ingest import _csvfile as csvfile
from trajlab.ingest._columns import RECORD, words
from trajlab.ingest._files import DataFile, Stamp, find, literal
from trajlab.ingest._kinds import Kind, Placing
from trajlab.ingest._tables import Table
from trajlab.query import step

NEEDED = ("user_id", "timestamp", "cell_id", "latitude", "longitude")
READ_FILES = "from read_parquet($paths, union_by_name = true, hive_partitioning = false)"
IN_UTC = 'select * replace (timezone(\'UTC\', "timestamp") as "timestamp")'
"""Spark's older form of times (INT96) is in UTC, and does not say so."""


def open_folder(
    con: duckdb.DuckDBPyConnection, source: object, cleanup: ExitStack, notes: list[str]
) -> Iterator[Table]:
    del cleanup
    for folder in source if isinstance(source, list | tuple) else [source]:
        if not isinstance(folder, str | os.PathLike) or not Path(folder).is_dir():
            raise IngestError("kind 'multimno' reads a folder of Parquet files year=…/month=…/day=…")
        files, left_out = find([folder], suffixes=(".parquet",))
        notes += left_out
        for day, of_day in groupby(files, key=_day):
            yield _open_day(con, day or Path(folder).resolve().name, list(of_day))


def _day(file: DataFile) -> str:
    """The partition of a file without the part that divides people."""
    return "/".join(part for part in Path(file.name).parent.parts if not part.startswith("user_id_modulo="))


def _open_day(con: duckdb.DuckDBPyConnection, day: str, files: list[DataFile]) -> Table:
    stamps = tuple(map(Stamp.of, files))
    in_utc = {_check_columns(file) == "INT96" for file in files}
    if len(in_utc) > 1:
        raise IngestError(f"{day}: its files write times in two forms; read one after the other, from two folders")
    query = f"{IN_UTC} {READ_FILES}" if in_utc == {True} else READ_FILES
    con.register("ingest_event", con.sql(query, params={"paths": [literal(file.path) for file in files]}))
    return Table(
        name=day,
        columns={name: name for name in ("uid", "ts", "station", "lat", "lng")},
        relation=con.sql(step("1_records/_multimno_events")),
        fingerprint=_fingerprint(files),
        slow_to_scan=True,
        stamps=stamps,
    )


def _check_columns(file: DataFile) -> str:
    """The form of its times, or an error where these are no events."""
    try:
        written = pq.ParquetFile(file.path).schema
        schema = written.to_arrow_schema()
    except (OSError, pa.ArrowException) as error:
        raise IngestError(f"{file.name}: a damaged or cut-off Parquet file") from error
    if missing := [name for name in NEEDED if name not in schema.names]:
        raise IngestError(
            f"{file.name}: not events of multimno, which have {', '.join(NEEDED)}: there is no {missing[0]!r}"
        )
    kind = schema.field("user_id").type
    if not (pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)):
        raise IngestError(f"{file.name}: the user_id of multimno's events is binary, not {kind}; read it as kind 'cdr'")
    return str(written.column(schema.names.index("timestamp")).physical_type)


def _fingerprint(files: list[DataFile]) -> str:
    """Of the content alone: the pipeline draws new names of files each time that it writes."""
    contents = "\n".join(sorted(csvfile.fingerprint(file) for file in files))
    return f"{len(files)} files:{hashlib.blake2b(contents.encode(), digest_size=16).hexdigest()}"


def place(con: duckdb.DuckDBPyConnection, mapping: dict[str, str], where: str, *, reference_given: bool) -> Placing:
    """An event's own coordinates, where it has some, and otherwise those of its cell."""
    del con, where, reference_given
    return Placing(
        mapping,
        gazetteer="select station as place, lat, lng from records.station",
        unknown="unknown station",
    )


KIND = Kind(
    columns={**RECORD, "station": words("station")},
    needs=("uid", "ts"),
    open_source=open_folder,
    place=place,
    reference="stations",
    reads_columns=False,
)
