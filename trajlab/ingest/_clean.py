"""What is taken out again once everything is in: 0, 0, doubles, and people who never move (song2014 §4).

Rows are moved to `records.rejected`, never lost, so that for every source rows = fixes +
rejected rows.
"""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa

PASS = 100_000_000
DOUBLE = "exact duplicate"
SINGLE_LOCATION = "person seen at a single location"
AT_ZERO = "at 0, 0: what receivers without a position write"
LIVED_IN = 0.01
"""Share of other records within a degree of 0, 0 from which it is a place like any other."""


def move_duplicates(
    con: duckdb.DuckDBPyConnection, first_source: int, *, bits: int = 64, rows_per_pass: int = PASS
) -> int:
    """Keep the first (by source, then row) of rows equal in everything; the number moved.

    Compares the rows of `first_source` and later with each other and with what the lab
    had. Sorting one 64-bit hash per row finds the few that might be doubles, and only
    those are compared in full, so a collision of hashes costs time and never a row. A
    smaller `bits` only makes collisions likelier.
    """
    ((fresh, since, until),) = con.sql(_SPAN, params={"first": first_source}).fetchall()
    if not fresh:
        return 0
    scope = {"first": first_source, "since": since, "until": until}
    ((rows,),) = con.sql(_IN_SCOPE, params=scope).fetchall()
    passes = -(-rows // rows_per_pass)
    mask = (2**bits - 1) << (64 - bits)
    con.execute("create or replace temp table ingest_double (row bigint, source_id integer, source_row bigint)")
    for number in range(passes):
        low, high = (number << 64) // passes, ((number + 1) << 64) // passes - 1
        hashes = con.sql(_HASHES, params={**scope, "mask": mask, "low": low, "high": high}).fetchnumpy()["h"]
        hashes.sort()
        shared = np.unique(hashes[1:][hashes[1:] == hashes[:-1]])
        del hashes
        if len(shared):
            con.register("ingest_shared_hash", pa.table({"h": shared}))
            con.execute(_COMPARE, {**scope, "mask": mask})
            con.unregister("ingest_shared_hash")
    moved = con.sql("select count(*) from ingest_double").fetchall()[0][0]
    if moved:
        con.execute(
            "insert into records.rejected select source_id, source_row, $reason from ingest_double", {"reason": DOUBLE}
        )
        con.execute("delete from records.fix where rowid in (select row from ingest_double)")
        con.execute(_FORGET_CALLS.format(table="ingest_double"))
    con.execute("drop table ingest_double")
    return int(moved)


def move_zero_zero(con: duckdb.DuckDBPyConnection, first_source: int) -> str | None:
    """Move fixes at exactly 0, 0 out, unless the data lie there; a note where they stay.

    The data lie there when at least one in a hundred of the other records is within a degree, or there are no
    others. All that the lab has is asked, so neither the order of rows nor their division into files matters.
    """
    ((zero, near, others),) = con.sql(_AROUND_ZERO, params={"first": first_source}).fetchall()
    if not zero:
        return None
    if near >= LIVED_IN * others:
        told = f"{near / others:.1%} of the others are within a degree of it" if others else "there are no others"
        return f"{zero:,} rows lie exactly at 0, 0 and were kept: {told}"
    params = {"first": first_source}
    con.execute(_ZERO_REJECTED, params | {"reason": AT_ZERO})
    con.execute(_FORGET_CALLS.format(table="records.rejected"))
    con.execute("delete from records.fix where lat = 0 and lng = 0 and source_id >= $first", params)
    return None


def move_single_location_people(con: duckdb.DuckDBPyConnection) -> int:
    """Move the fixes of everybody whom the lab knows at one place only; the number of people.

    They stay in `records.person`: a number is never given to somebody else.
    """
    con.execute(_SINGLE)
    people = con.sql("select count(*) from ingest_single").fetchall()[0][0]
    if people:
        con.execute(_SINGLE_REJECTED, {"reason": SINGLE_LOCATION})
        con.execute("delete from records.fix where person in (select person from ingest_single)")
        con.execute(_FORGET_CALLS.format(table="records.rejected"))
    con.execute("drop table ingest_single")
    return int(people)


_AROUND_ZERO = """
select
    count(*) filter (lat = 0 and lng = 0 and source_id >= $first),
    count(*) filter (abs(lat) <= 1 and abs(lng) <= 1 and not (lat = 0 and lng = 0)),
    count(lat) filter (not (lat = 0 and lng = 0))
from records.fix
"""

_ZERO_REJECTED = """
insert into records.rejected
select source_id, source_row, $reason
from records.fix
where lat = 0 and lng = 0 and source_id >= $first
order by source_id, source_row
"""

_SPAN = "select count(*), min(ts), max(ts) from records.fix where source_id >= $first"

_IN_SCOPE = "select count(*) from records.fix where source_id >= $first or ts between $since and $until"

_HASHES = """
with hashed as (
    select hash(person, ts, lat, lng) & $mask::ubigint as h
    from records.fix
    where source_id >= $first or ts between $since and $until
)
select h from hashed where h between $low::ubigint and $high::ubigint
"""

_COMPARE = """
insert into ingest_double
with suspects as (
    select fix.rowid as row, fix.*, call.direction, call.region
    from records.fix as fix
    left join records.call as call using (source_id, source_row)
    where (source_id >= $first or ts between $since and $until)
        and (hash(person, ts, lat, lng) & $mask::ubigint)
            in (from ingest_shared_hash)
)
select row, source_id, source_row
from suspects
qualify row_number() over (
    partition by person, ts, lat, lng, place, direction, region order by source_id, source_row
) > 1
"""

_FORGET_CALLS = """
delete from records.call
where (source_id, source_row) in (select (source_id, source_row) from {table})
"""

# A place is known by its name where it has one, by its coordinates otherwise.
_SINGLE = """
create or replace temp table ingest_single as
select person
from records.fix
group by person
having (count(place) = count(*) and min(place) = max(place))
    or (count(place) = 0 and min(lat) = max(lat) and min(lng) = max(lng))
"""

_SINGLE_REJECTED = """
insert into records.rejected
select source_id, source_row, $reason
from records.fix
where person in (select person from ingest_single)
"""
