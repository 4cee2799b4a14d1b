"""What is rejected once everything is in: 0, 0, duplicates, and people who never move (song2014 §4).

Rows are moved to `records.rejected`, never lost, so that for every source rows = fixes +
rejected rows.
"""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa

from trajlab.query import step

PASS = 100_000_000
DUPLICATE = "exact duplicate"
SINGLE_LOCATION = "person seen at a single location"
AT_ZERO = "at 0, 0: what receivers without a position write"
NEAR_SHARE = 0.01
"""Share of other records within a degree of 0, 0 from which it is a place like any other."""


def reject_duplicates(
    con: duckdb.DuckDBPyConnection, first_source: int, *, bits: int = 64, rows_per_pass: int = PASS
) -> int:
    """Leave the first (by source, then row) of rows equal in everything; the number rejected.

    Compares the rows of `first_source` and later with each other and with what the lab
    had. Sorting one 64-bit hash per row finds the few that might be duplicates, and only
    those are compared in full, so a collision of hashes costs time and never a row. A
    smaller `bits` only makes collisions likelier.
    """
    ((rows, since, until),) = con.sql(_SPAN, params={"first_source": first_source}).fetchall()
    if not rows:
        return 0
    scope = {"first_source": first_source, "since": since, "until": until}
    ((compared,),) = con.sql(_IN_SCOPE, params=scope).fetchall()
    passes = -(-compared // rows_per_pass)
    mask = (2**bits - 1) << (64 - bits)
    con.execute("create or replace temp table ingest_duplicate (row bigint, source_id integer, source_row bigint)")
    for number in range(passes):
        between = {"low": (number << 64) // passes, "high": ((number + 1) << 64) // passes - 1}
        found = con.sql(step("1_records/_reject_hashes"), params={**scope, "mask": mask, **between})
        hashes = found.fetchnumpy()["hash"]
        hashes.sort()
        shared = np.unique(hashes[1:][hashes[1:] == hashes[:-1]])
        del hashes
        if len(shared):
            con.register("ingest_shared_hash", pa.table({"hash": shared}))
            compare = step("1_records/_reject_duplicates")
            con.execute(f"insert into ingest_duplicate {compare}", {**scope, "mask": mask})
            con.unregister("ingest_shared_hash")
    ((duplicates,),) = con.sql("select count(*) from ingest_duplicate").fetchall()
    if duplicates:
        con.execute(
            "insert into records.rejected select source_id, source_row, $reason from ingest_duplicate",
            {"reason": DUPLICATE},
        )
        con.execute("delete from records.fix where rowid in (select row from ingest_duplicate)")
        con.execute(_DELETE_CALLS)
    con.execute("drop table ingest_duplicate")
    return int(duplicates)


def reject_zero_zero(con: duckdb.DuckDBPyConnection, first_source: int) -> str | None:
    """Reject fixes at exactly 0, 0, unless the data lie there; a note where they stay.

    The data lie there when at least one in a hundred of the other records is within a degree, or there are no
    others. All that the lab has is counted, so neither the order of rows nor their division into files matters.
    """
    since = {"first_source": first_source}
    ((zero, near, others),) = con.sql(step("1_records/_reject_around_zero"), params=since).fetchall()
    if zero and not (note := why_zero_zero_stays(zero, near, others)):
        move_zero_zero(con, first_source)
    return note if zero else None


def why_zero_zero_stays(zero: int, near: int, others: int) -> str | None:
    """A note where fixes at 0, 0 are records like others; None where they are to be rejected."""
    if near < NEAR_SHARE * others:
        return None
    reason = f"{near / others:.1%} of the others are within a degree of it" if others else "there are no others"
    return f"{zero:,} rows lie exactly at 0, 0 and were kept: {reason}"


def move_zero_zero(con: duckdb.DuckDBPyConnection, first_source: int) -> None:
    """Reject the fixes at exactly 0, 0 of these sources."""
    since = {"first_source": first_source}
    con.execute(f"insert into records.rejected {step('1_records/_reject_zero_zero')}", {**since, "reason": AT_ZERO})
    con.execute(_DELETE_CALLS)
    con.execute("delete from records.fix where lat = 0 and lng = 0 and source_id >= $first_source", since)


def reject_single_location_people(con: duckdb.DuckDBPyConnection) -> int:
    """Reject the fixes of everybody whom the lab knows at one place only; the number of people.

    They stay in `records.person`: a number is never given to somebody else.
    """
    con.execute(f"create or replace temp table ingest_single as {step('1_records/_reject_single_location')}")
    ((people,),) = con.sql("select count(*) from ingest_single").fetchall()
    if people:
        con.execute(_REJECT_PEOPLE, {"reason": SINGLE_LOCATION})
        con.execute("delete from records.fix where person in (select person from ingest_single)")
        con.execute(_DELETE_CALLS)
    con.execute("drop table ingest_single")
    return int(people)


_SPAN = "select count(*), min(ts), max(ts) from records.fix where source_id >= $first_source"

_IN_SCOPE = "select count(*) from records.fix where source_id >= $first_source or ts between $since and $until"

_REJECT_PEOPLE = """
insert into records.rejected
select source_id, source_row, $reason from records.fix where person in (select person from ingest_single)"""

_DELETE_CALLS = """
delete from records.call
where (source_id, source_row) in (select (source_id, source_row) from records.rejected)"""
