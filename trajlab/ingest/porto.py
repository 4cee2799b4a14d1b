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

_TRIP = {name: words(name) for name in ("taxi_id", "timestamp", "missing_data", "polyline")}


def open_trips(con: duckdb.DuckDBPyConnection, source: object, keep: ExitStack, notes: list[str]) -> Iterator[Table]:
    for trips in open_tables(con, source, keep, notes):
        mapping = resolve(trips.columns, _TRIP, _TRIP, None, trips.name)
        picked = [ColumnExpression(trips.columns[found]).cast("VARCHAR").alias(name) for name, found in mapping.items()]
        con.register(
            "ingest_trip",
            trips.relation.select(ColumnExpression("source_row"), ColumnExpression("fault"), *picked),
        )
        if trips.fingerprint is None:
            raise IngestError("kind 'porto' reads files, such as train.csv")
        yield Table(
            name=trips.name,
            columns={name: name for name in ("uid", "ts", "lat", "lng")},
            relation=con.sql(_POINTS),
            fingerprint=trips.fingerprint,
            dear=True,
            notes=trips.notes,
            stamps=trips.stamps,
        )


_POINTS = """
with read as (
    select
        source_row, fault, taxi_id, "timestamp", lower(trim(missing_data)) = 'true' as has_gaps,
        case when json_valid(polyline) then from_json(polyline, '[["DOUBLE"]]') end as points
    from ingest_trip
),
judged as (
    select
        * exclude (fault, points),
        case
            when fault is not null then fault
            when has_gaps then 'trip has missing points'
            when points is null then 'polyline not understood'
            when len(points) = 0 then 'trip without points'
        end as fault,
        points
    from read
),
spread as (
    select
        source_row, fault, taxi_id, "timestamp",
        unnest(case when fault is null then range(len(points)) else [0] end) as step,
        unnest(case when fault is null then points else [null] end) as point
    from judged
)
select
    source_row,
    fault,
    taxi_id as uid,
    try_cast("timestamp" as double) + 15 * step as ts,
    point[2] as lat,
    point[1] as lng
from spread
"""

KIND = Kind(columns=RECORD, needs=("uid", "ts", "lat", "lng"), opens=open_trips, reads_columns=False)
