"""GeoLife: a folder `<user>/Trajectory/*.plt`, six header lines, then one point a line.

A line is `lat,lng,0,altitude,days,date,time` with times in GMT; the person is the user's
folder. The whole folder is one source, and its rows are numbered through all files in the
order of their paths. Thousands of small files are read in one go.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import duckdb

from trajlab.errors import IngestError
from trajlab.ingest._columns import RECORD
from trajlab.ingest._files import DataFile, Stamp, find, literal
from trajlab.ingest._kinds import Kind
from trajlab.ingest._tables import Table
from trajlab.query import step

READ_FILES = """
from read_csv(
    $paths,
    columns = {
        'lat': 'VARCHAR', 'lng': 'VARCHAR', 'zero': 'VARCHAR', 'altitude': 'VARCHAR', 'days': 'VARCHAR',
        'day': 'VARCHAR', 'clock': 'VARCHAR', 'beyond': 'VARCHAR'
    },
    skip = 6, header = false, auto_detect = false, delim = ',', quote = '', escape = '',
    null_padding = true, strict_mode = false, ignore_errors = false, filename = true
)
"""
"""Every line of the files, as text, and the path of its file."""


def open_folder(
    con: duckdb.DuckDBPyConnection, source: object, cleanup: ExitStack, notes: list[str]
) -> Iterator[Table]:
    del cleanup
    for folder in source if isinstance(source, list | tuple) else [source]:
        if not isinstance(folder, str | os.PathLike) or not Path(folder).is_dir():
            raise IngestError("kind 'geolife' reads a folder of <user>/Trajectory/*.plt files")
        files, left_out = find_trajectories(folder)
        notes += left_out
        stamps = tuple(map(Stamp.of, files))
        con.register("ingest_plt", con.sql(READ_FILES, params={"paths": [literal(file.path) for file in files]}))
        yield Table(
            name=Path(folder).resolve().name,
            columns={name: name for name in ("uid", "ts", "lat", "lng")},
            relation=con.sql(step("1_records/_geolife_points")),
            fingerprint=_fingerprint(files),
            slow_to_scan=True,
            stamps=stamps,
        )


def find_trajectories(folder: str | os.PathLike[str]) -> tuple[list[DataFile], list[str]]:
    """The files of a folder, each in a user's folder `Trajectory`; and notes on what was left out."""
    files, notes = find([folder], suffixes=(".plt",))
    strangers = [file.name for file in files if file.path.parent.name != "Trajectory"]
    if strangers:
        raise IngestError(f"{strangers[0]}: not inside a folder <user>/Trajectory; whose points are these?")
    return files, notes


def _fingerprint(files: list[DataFile]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for file in files:
        user_and_file = "/".join(file.path.parts[-3:])
        content = hashlib.blake2b(file.path.read_bytes(), digest_size=16).hexdigest()
        digest.update(f"{user_and_file}\0{content}\n".encode())
    return f"{len(files)} files:{digest.hexdigest()}"


KIND = Kind(columns=RECORD, needs=("uid", "ts", "lat", "lng"), open_source=open_folder, reads_columns=False)
