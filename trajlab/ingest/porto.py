"""Porto taxi trips: one trip a row, its points 15 seconds apart in a `POLYLINE` of [lng, lat].

A trip becomes as many records as it has points, all with the row number of the trip. A trip
with missing points, without points or with an unreadable polyline is one rejected row. So
the rows of such a source are its points and its rejected trips.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import duckdb
from duckdb import ColumnExpression

from trajlab.errors import IngestError
from trajlab.ingest._columns import RECORD, resolve, words
from trajlab.ingest._kinds import Kind
from trajlab.ingest._tables import Table, open_tables
from trajlab.query import step

_TRIP = {name: words(name) for name in ("taxi_id", "timestamp", "missing_data", "polyline")}


def open_trips(con: duckdb.DuckDBPyConnection, source: object, cleanup: ExitStack, notes: list[str]) -> Iterator[Table]:
    for trips in open_tables(con, source, cleanup, notes):
        mapping = resolve(trips.columns, _TRIP, _TRIP, None, trips.name)
        columns = [ColumnExpression(trips.columns[c]).cast("VARCHAR").alias(name) for name, c in mapping.items()]
        con.register(
            "ingest_trip",
            trips.relation.select(ColumnExpression("source_row"), ColumnExpression("fault"), *columns),
        )
        if trips.fingerprint is None:
            raise IngestError("kind 'porto' reads files, such as train.csv")
        yield Table(
            name=trips.name,
            columns={name: name for name in ("uid", "ts", "lat", "lng")},
            relation=con.sql(step("1_records/_porto_points")),
            fingerprint=trips.fingerprint,
            slow_to_scan=True,
            notes=trips.notes,
            stamps=trips.stamps,
        )


KIND = Kind(columns=RECORD, needs=("uid", "ts", "lat", "lng"), open_source=open_trips, reads_columns=False)
