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
from trajlab.ingest._columns import PARENT, PLACE_IN_A_TABLE, RECORD, STATION, Words, resolve
from trajlab.ingest._judge import torn
from trajlab.ingest._quoting import STRAY
from trajlab.ingest._tables import Table, open_tables

_LAT_LNG = {name: RECORD[name] for name in ("lat", "lng")}


def add_stations(con: duckdb.DuckDBPyConnection, source: object) -> list[str]:
    """Add a table of station, lat, lng to `records.station`; notes for the user."""
    where = _read(con, source, {"station": STATION, **_LAT_LNG}, needs=("station", "lat", "lng"))
    _refuse_bad_degrees(con, where, needed=True)
    _refuse_conflicts(con, where, "station")
    moved = _ids(con.sql(_MOVED_IN_USE))
    if moved:
        raise IngestError(
            f"{where}: records in the lab already use other coordinates for {moved}; open a new lab to move them"
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
    where = _read(con, source, {"place": PLACE_IN_A_TABLE, **_LAT_LNG, "parent": PARENT}, needs=("place",))
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
    con.execute(_SEEN, {"first": first_source})


def refuse_torn_rows(con: duckdb.DuckDBPyConnection, table: Table, columns: Collection[str]) -> None:
    """Raise where a line has too many fields or a stray quote, or where one of these columns is not UTF-8."""
    fault = torn(table, columns).alias("fault")
    con.register("ingest_written", table.relation.select(ColumnExpression("source_row"), fault))
    found = con.sql(_TORN).fetchall()
    con.unregister("ingest_written")
    if not found:
        return
    row, fault, rows = found[0]
    more = f" ({rows:,} rows in all)" if rows > 1 else ""
    raise IngestError(f"{table.name}: row {row} is not sound: {fault}{more}; {_CURES[fault]}")


def _read(con: duckdb.DuckDBPyConnection, source: object, wanted: Mapping[str, Words], needs: tuple[str, ...]) -> str:
    """Fill the temporary table `ingest_reference`; the name of the source."""
    con.execute("create or replace temp table ingest_reference (place varchar, lat double, lng double, parent varchar)")
    with ExitStack() as keep:
        for table in open_tables(con, source, keep, []):
            mapping = resolve(table.columns, wanted, needs, None, table.name)
            chosen = {("place" if name == "station" else name): table.columns[c] for name, c in mapping.items()}
            refuse_torn_rows(con, table, chosen.values())
            picked = [
                (ColumnExpression(chosen[name]) if name in chosen else ConstantExpression(None))
                .cast("VARCHAR")
                .alias(name)
                for name in ("place", "lat", "lng", "parent")
            ]
            con.register("ingest_written", table.relation.select(ColumnExpression("source_row"), *picked))
            unreadable = con.sql(_UNREADABLE).fetchall()
            if unreadable:
                raise IngestError(
                    f"{table.name}: row {unreadable[0][0]} has no id, or coordinates that are not numbers"
                )
            con.execute(_TYPED)
            con.unregister("ingest_written")
    return table.name


def _refuse_bad_degrees(con: duckdb.DuckDBPyConnection, where: str, *, needed: bool) -> None:
    bad = _ids(con.sql(_BAD_DEGREES, params={"needed": needed}))
    if bad:
        raise IngestError(f"{where}: no usable lat and lng for {bad}")


def _refuse_conflicts(con: duckdb.DuckDBPyConnection, where: str, what: str) -> None:
    twice = _ids(con.sql(_CONFLICTS))
    if twice:
        raise IngestError(
            f"{where}: {what} ids with more than one set of coordinates: {twice}; "
            "give each place its own id, or keep one row of each"
        )


def _ids(rows: duckdb.DuckDBPyRelation) -> str:
    ids = [str(row[0])[:40] for row in rows.fetchall()]
    return ", ".join(ids[:10]) + (f" and {len(ids) - 10} more" if len(ids) > 10 else "")


_TORN = """
select source_row, fault, count(*) over () as rows
from ingest_written
where fault is not null
order by source_row
limit 1
"""

_CURES = {
    "not UTF-8": "save the table as UTF-8",
    "too many fields": "give every row the fields of the header, no more",
    STRAY: "close its quotes, and double those inside",
}

_UNREADABLE = """
select min(source_row)
from ingest_written
where coalesce(trim(place), '') = ''
    or (trim(lat) <> '' and try_cast(trim(lat) as double) is null)
    or (trim(lng) <> '' and try_cast(trim(lng) as double) is null)
having count(*) > 0
"""

_TYPED = """
insert into ingest_reference
select trim(place), try_cast(trim(lat) as double), try_cast(trim(lng) as double), nullif(trim(parent), '')
from ingest_written
"""

_BAD_DEGREES = """
select distinct place
from ingest_reference
where case
    when lat is null and lng is null then $needed
    else not coalesce(lat between -90 and 90 and lng between -180 and 180, false)
end
order by place
"""

_CONFLICTS = """
select place
from (select distinct place, lat, lng, parent from ingest_reference)
group by place
having count(*) > 1
order by place
"""

_MOVED_IN_USE = """
select distinct station
from records.station
join ingest_reference as given on given.place = station
where (station.lat <> given.lat or station.lng <> given.lng)
    and station in (select place from records.fix)
order by station
"""

# Sums of whole ten-millionths of a degree: the same whatever the order in which the engine adds. Longitudes on
# both sides of the antimeridian are counted eastwards from 0, and the mean is brought back below 180.
_SEEN = """
insert into records.place
with newly_named as (
    select place, round(lat * 1e7)::bigint as north, round(lng * 1e7)::bigint as east
    from records.fix
    where source_id >= $first and place is not null
        and place not in (select place from records.place)
),
mean as (
    select
        place,
        sum(north) / nullif(count(north), 0) / 1e7 as lat,
        case
            when max(east) - min(east) <= 1800000000 then sum(east) / nullif(count(east), 0) / 1e7
            else sum(case when east < 0 then east + 3600000000 else east end) / nullif(count(east), 0) / 1e7
        end as lng
    from newly_named
    group by place
)
select place, lat, case when lng > 180 then lng - 360 else lng end, null
from mean
order by place
"""
