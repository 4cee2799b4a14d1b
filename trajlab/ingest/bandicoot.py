"""bandicoot: a folder with one CSV file per person, who is called like the file.

A line is `interaction,direction,correspondent_id,datetime,call_duration,antenna_id`, or has latitude and longitude
instead of the antenna; `stations=` takes `antennas.csv`. Whom somebody called is not read.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from duckdb import ConstantExpression, StarExpression

from trajlab.errors import IngestError
from trajlab.ingest._columns import DIRECTION, RECORD, STATION, words
from trajlab.ingest._files import find
from trajlab.ingest._kinds import Kind
from trajlab.ingest._tables import Table, open_records
from trajlab.ingest.cdr import place

NOT_PEOPLE = {"antennas", "attributes", "towers"}
"""Files of bandicoot that may lie beside those of people."""


def open_folder(
    con: duckdb.DuckDBPyConnection, source: object, cleanup: ExitStack, notes: list[str]
) -> Iterator[Table]:
    for folder in source if isinstance(source, list | tuple) else [source]:
        if not isinstance(folder, str | os.PathLike) or not Path(folder).is_dir():
            raise IngestError("kind 'bandicoot' reads a folder with one CSV file per person")
        files, left_out = find([folder])
        notes += left_out
        others = [file.name for file in files if _person(file.name) in NOT_PEOPLE]
        notes += [f"{name}: not a person, left out; antennas are given as stations=" for name in others]
        paths = [file.path for file in files if file.name not in others]
        if not paths:
            raise IngestError(f"folder {Path(folder).name!r} holds no file of a person")
        twice = [name for name, files in Counter(_person(path.name) for path in paths).items() if files > 1]
        if twice:
            raise IngestError(f"{len(twice):,} people have more than one file, such as {twice[0]!r}: whose are they?")
        for table in open_records(con, paths, cleanup, notes):
            yield _with_people(con, table)


def _person(name: str) -> str:
    """The name of a file without what says how it is written."""
    return Path(name).name.partition(".csv")[0].partition(".parquet")[0]


def _with_people(con: duckdb.DuckDBPyConnection, table: Table) -> Table:
    """The table with one more column, whose file the row is from."""
    columns = {**table.columns, "uid": "owner"}
    if not table.parts:  # one large file
        person = _person(table.name)
        relation = table.relation.select(StarExpression(), ConstantExpression(person).alias("owner"))
        return replace(table, relation=relation, columns=columns, fingerprint=f"{person}:{table.fingerprint}")
    rows = [part.rows for part in table.parts]
    people = [_person(part.name) for part in table.parts]
    owner = pa.array(people).take(pa.array(np.repeat(np.arange(len(people)), rows)))
    con.register("ingest_owner", pa.table({"source_row": np.arange(1, sum(rows) + 1), "owner": owner}))
    con.register("ingest_interaction", table.relation)
    parts = tuple(
        replace(part, fingerprint=f"{person}:{part.fingerprint}")
        for part, person in zip(table.parts, people, strict=True)
    )
    return replace(table, relation=con.sql(_OWNED), columns=columns, parts=parts)


_OWNED = "select lines.*, owner from ingest_interaction as lines join ingest_owner using (source_row)"

KIND = Kind(
    columns={**RECORD, "uid": words("uid"), "station": STATION, "direction": DIRECTION},
    needs=("uid", "ts"),
    open_source=open_folder,
    place=place,
    reference="stations",
    reads_columns=False,
)
