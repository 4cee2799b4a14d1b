"""Checked sources go into the lab: who they are about, their fixes, their rejected rows.

Their rows are scanned twice: once to count (and to meet the people), once to sort fixes by
person and time. A third time only where some row was refused. People are known by
their id as text, without surrounding spaces; new ones are numbered source by source, in the
order of their ids, after those that the lab has.
"""

from __future__ import annotations

from collections.abc import Collection

import duckdb

from trajlab.ingest._csvfile import LINE_FAULTS
from trajlab.query import step

_FIX = ("source_id", "source_row", "person", "ts", "lat", "lng", "place")


def write_records(
    con: duckdb.DuckDBPyConnection, *, columns: Collection[str], faults: int, several_sources: bool
) -> int:
    """Write the fixes and rejected rows of `ingest_row`, whose people are in `ingest_survey`; the number of new people.

    `columns` are the canonical ones that the sources have: what they lack is not sorted along. Two
    sort keys where all rows are of one source: a third costs a tenth of the time.
    """
    before = _count_people(con)
    _number_people(con)
    stored = ", ".join(column for column in _FIX if column != "place" or "place" in columns)
    order = "source_id, person, ts" if several_sources else "person, ts"
    fixes = f"select {stored} from ({step('1_records/_row_fixes')}) order by {order}"  # noqa: S608
    con.execute(f"insert into records.fix by name {fixes}")
    if "direction" in columns or "region" in columns:
        con.execute(f"insert into records.call by name {step('1_records/_row_calls')}")
    ((refused_people,),) = con.sql("select count(uid_fault) from ingest_person").fetchall()
    if faults or refused_people:
        rejected = step("1_records/_row_rejections")
        con.execute(f"insert into records.rejected by name {rejected}", {"line_faults": list(LINE_FAULTS)})
    return _count_people(con) - before


def _number_people(con: duckdb.DuckDBPyConnection) -> None:
    """Fill `records.person` with the new ones, and the temporary table `ingest_person` with everybody."""
    people = con.table("ingest_survey")
    decimals = str(people.types[people.columns.index("uid")]) in {"FLOAT", "DOUBLE"}
    names = step("1_records/_person_names")
    con.execute(f"create or replace temp table ingest_name as {names}", {"decimals": decimals})
    con.execute(f"insert into records.person by name {step('1_records/_person_new')}")
    con.execute(f"create or replace temp table ingest_person as {step('1_records/_person_numbers')}")


def _count_people(con: duckdb.DuckDBPyConnection) -> int:
    return int(con.sql("select count(*) from records.person").fetchall()[0][0])
