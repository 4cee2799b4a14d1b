"""Tables that give places their coordinates: base stations, and named places.

Each may come in pieces, and an id given again in a later piece replaces the earlier one,
unless records already lie there. Within a piece one id at two different spots is refused
with the ids, since every record that names it would be in doubt. So is a table with a torn
line or in another encoding: a row of it may stand for many records.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import ExitStack

import duckdb
from duckdb import ColumnExpression, ConstantExpression

from trajlab.errors import IngestError
from trajlab.ingest._checks import line_fault
from trajlab.ingest._columns import PARENT, PLACE_IN_A_TABLE, RECORD, STATION, Words, resolve
from trajlab.ingest._quoting import STRAY
from trajlab.ingest._tables import Table, open_tables
from trajlab.query import step

_LAT_LNG = {name: RECORD[name] for name in ("lat", "lng")}


def add_stations(con: duckdb.DuckDBPyConnection, source: object) -> list[str]:
    """Add a table of station, lat, lng to `records.station`; notes for the user."""
    where = _parse(con, source, {"station": STATION, **_LAT_LNG}, needs=("station", "lat", "lng"))
    _refuse_bad_degrees(con, where, needed=True)
    _refuse_conflicts(con, where, "station")
    in_use = _ids(con.sql(step("1_records/_reference_stations_in_use")))
    if in_use:
        raise IngestError(
            f"{where}: records in the lab already use other coordinates for {in_use}; open a new lab to move them"
        )
    con.execute("delete from records.station where station in (select place from ingest_reference)")
    con.execute("insert into records.station select distinct place, lat, lng from ingest_reference order by place")
    ((stations, spots),) = con.sql("select count(*), count(distinct (lat, lng)) from records.station").fetchall()
    con.execute("drop table ingest_reference")
    notes = [f"{where}: the lab now knows {stations:,} stations"]
    if spots < stations:
        notes.append(f"{where}: {stations:,} stations stand on {spots:,} spots; some share a mast")
    return notes


def add_places(con: duckdb.DuckDBPyConnection, source: object) -> list[str]:
    """Add a table of place and, where known, lat, lng and parent to `records.place`."""
    where = _parse(con, source, {"place": PLACE_IN_A_TABLE, **_LAT_LNG, "parent": PARENT}, needs=("place",))
    _refuse_bad_degrees(con, where, needed=False)
    _refuse_conflicts(con, where, "place")
    con.execute("delete from records.place where place in (select place from ingest_reference)")
    con.execute(
        "insert into records.place select distinct place, lat, lng, parent from ingest_reference order by place"
    )
    ((places, without),) = con.sql("select count(*), count(*) filter (lat is null) from records.place").fetchall()
    con.execute("drop table ingest_reference")
    return [f"{where}: the lab now knows {places:,} places, {without:,} of them without coordinates"]


def add_places_seen(con: duckdb.DuckDBPyConnection, first_source: int) -> None:
    """Add the places that the records of `first_source` and later name and the lab did not know."""
    places = step("1_records/_reference_places_seen")
    con.execute(f"insert into records.place by name {places}", {"first_source": first_source})


def refuse_torn_rows(con: duckdb.DuckDBPyConnection, table: Table, columns: Collection[str]) -> None:
    """Raise where a line has too many fields or a stray quote, or where one of these columns is not UTF-8."""
    fault = line_fault(table, columns).alias("fault")
    con.register("ingest_written", table.relation.select(ColumnExpression("source_row"), fault))
    found = con.sql(step("1_records/_reference_torn_row")).fetchall()
    con.unregister("ingest_written")
    if not found:
        return
    row, fault, rows = found[0]
    more = f" ({rows:,} rows in all)" if rows > 1 else ""
    raise IngestError(f"{table.name}: row {row} is not sound: {fault}{more}; {_CURES[fault]}")


def _parse(con: duckdb.DuckDBPyConnection, source: object, wanted: Mapping[str, Words], needs: tuple[str, ...]) -> str:
    """Fill the temporary table `ingest_reference`; the name of the source."""
    con.execute("create or replace temp table ingest_reference (place varchar, lat double, lng double, parent varchar)")
    with ExitStack() as cleanup:
        for table in open_tables(con, source, cleanup, []):
            mapping = resolve(table.columns, wanted, needs, None, table.name)
            chosen = {("place" if name == "station" else name): table.columns[c] for name, c in mapping.items()}
            refuse_torn_rows(con, table, chosen.values())
            columns = [
                (ColumnExpression(chosen[name]) if name in chosen else ConstantExpression(None))
                .cast("VARCHAR")
                .alias(name)
                for name in ("place", "lat", "lng", "parent")
            ]
            con.register("ingest_written", table.relation.select(ColumnExpression("source_row"), *columns))
            unreadable = con.sql(step("1_records/_reference_unreadable_row")).fetchall()
            if unreadable:
                raise IngestError(
                    f"{table.name}: row {unreadable[0][0]} has no id, or coordinates that are not numbers"
                )
            con.execute(f"insert into ingest_reference by name {step('1_records/_reference_rows')}")
            con.unregister("ingest_written")
    return table.name


def _refuse_bad_degrees(con: duckdb.DuckDBPyConnection, where: str, *, needed: bool) -> None:
    bad = _ids(con.sql(step("1_records/_reference_off_the_map"), params={"needed": needed}))
    if bad:
        raise IngestError(f"{where}: no usable lat and lng for {bad}")


def _refuse_conflicts(con: duckdb.DuckDBPyConnection, where: str, what: str) -> None:
    twice = _ids(con.sql(step("1_records/_reference_conflicts")))
    if twice:
        raise IngestError(
            f"{where}: {what} ids with more than one set of coordinates: {twice}; "
            "give each place its own id, or keep one row of each"
        )


def _ids(rows: duckdb.DuckDBPyRelation) -> str:
    ids = [str(row[0])[:40] for row in rows.fetchall()]
    return ", ".join(ids[:10]) + (f" and {len(ids) - 10} more" if len(ids) > 10 else "")


_CURES = {
    "not UTF-8": "save the table as UTF-8",
    "too many fields": "give every row the fields of the header, no more",
    STRAY: "close its quotes, and double those inside",
}
