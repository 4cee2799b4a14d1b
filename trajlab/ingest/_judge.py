"""Every row becomes a fix or gets one reason why it cannot.

The result of `judge` is one row per source row with typed columns and `fault`, null for a
fix. The first thing that is wrong names the reason, in the order: the line itself, time,
place, latitude, longitude. Who the row is about is checked later, once per person.
"""

from __future__ import annotations

from collections.abc import Iterable

import duckdb
from duckdb import CaseExpression, ColumnExpression, ConstantExpression, Expression, FunctionExpression

from trajlab.errors import IngestError
from trajlab.ingest._columns import family
from trajlab.ingest._csvfile import UNPRINTABLE
from trajlab.ingest._kinds import Placing
from trajlab.ingest._tables import Table
from trajlab.ingest._times import read_times

CANONICAL = ("uid", "ts", "lat", "lng", "place", "direction", "region")
VIEWS = (
    "ingest_frame", "ingest_raw", "ingest_form", "ingest_step", "ingest_resolved", "ingest_instant",
    "ingest_timed", "ingest_coordinates", "ingest_gazetteer", "ingest_located", "ingest_judged",
    "ingest_trip", "ingest_written",
)  # fmt: skip


def pick(table: Table, placing: Placing) -> duckdb.DuckDBPyRelation:
    """The mapped columns under their canonical names, as they were written."""
    types = dict(zip(table.relation.columns, map(str, table.relation.types), strict=True))
    chosen = {("place" if name == "station" else name): table.columns[c] for name, c in placing.mapping.items()}
    picked: dict[str, Expression] = {
        name: ColumnExpression(chosen[name]) if name in chosen else ConstantExpression(None).cast("VARCHAR")
        for name in CANONICAL
    }
    degrees = {name: family(types[chosen[name]]) for name in ("lat", "lng") if name in chosen}
    for name, kind in degrees.items():
        if kind not in {"number", "text"}:
            raise IngestError(
                f"{table.name}: column {placing.mapping[name]!r} holds no degrees: its type is {types[chosen[name]]}"
            )
    as_text = {"place", "direction", "region"} | {n for n in chosen if types[chosen[n]].startswith("ENUM")}
    as_text |= {"lat", "lng"} if "text" in degrees.values() else set()
    picked |= {name: picked[name].cast("VARCHAR") for name in as_text}
    return table.relation.select(
        ColumnExpression("source_row"),
        torn(table, chosen.values()).alias("fault"),
        *(expression.alias(name) for name, expression in picked.items()),
    )


def torn(table: Table, columns: Iterable[str]) -> Expression:
    """What is wrong with the line of each row itself, where these of its columns are read."""
    fault: Expression = ColumnExpression("fault")
    for column in columns if table.repaired else ():
        stray = FunctionExpression("contains", ColumnExpression(column), ConstantExpression(UNPRINTABLE))
        fault = CaseExpression(stray, ConstantExpression("not UTF-8")).otherwise(fault)
    return fault


def judge(
    con: duckdb.DuckDBPyConnection,
    raw: duckdb.DuckDBPyRelation,
    placing: Placing,
    *,
    tz: str | None,
    where: str,
) -> None:
    """Define the view `ingest_judged` over `raw`."""
    con.register("ingest_timed", read_times(con, raw, column=placing.mapping["ts"], tz=tz, where=where))
    written = family(str(raw.types[raw.columns.index("lat")])) == "text"
    con.register("ingest_coordinates", con.sql(_WRITTEN if written else _NUMBERS))
    if placing.gazetteer:
        con.register("ingest_gazetteer", con.sql(placing.gazetteer))
        faults = {"missing": placing.missing, "unknown": placing.unknown}
        con.register("ingest_located", con.sql(_GAZETTEER, params=faults))
    else:
        con.register("ingest_located", con.sql(_IN_PLACE))
    con.register("ingest_judged", con.sql(_JUDGED, params={"coordinates_needed": placing.coordinates_needed}))


_NUMBERS = """
select
    * exclude (lat, lng, place, direction, region),
    lat::double as lat, lat is not null as lat_given,
    lng::double as lng, lng is not null as lng_given,
    nullif(trim(place), '') as place,
    nullif(trim(direction), '') as direction,
    nullif(trim(region), '') as region
from ingest_timed
"""

_WRITTEN = """
select
    * exclude (lat, lng, place, direction, region),
    try_cast(written.lat as double) as lat,
    case when try_cast(written.lat as double) is null then trim(written.lat) <> '' else true end as lat_given,
    try_cast(written.lng as double) as lng,
    case when try_cast(written.lng as double) is null then trim(written.lng) <> '' else true end as lng_given,
    nullif(trim(place), '') as place,
    nullif(trim(direction), '') as direction,
    nullif(trim(region), '') as region
from ingest_timed as written
"""

_IN_PLACE = "select *, null::varchar as place_fault from ingest_coordinates"

_GAZETTEER = """
select
    records.* exclude (lat, lng, lat_given, lng_given),
    coalesce(records.lat_given, false) or coalesce(records.lng_given, false) as own,
    case when own then records.lat else known.lat end as lat,
    case when own then records.lng else known.lng end as lng,
    case when own then records.lat_given else known.lat is not null end as lat_given,
    case when own then records.lng_given else known.lng is not null end as lng_given,
    case
        when records.place is null then $missing::varchar
        when known.place is null then $unknown::varchar
    end as place_fault
from ingest_coordinates as records
left join ingest_gazetteer as known on known.place = records.place
"""

# The first branch is all that a sound row costs.
_JUDGED = """
select
    source_row, uid, ts, lat, lng, place, direction, region, form, repeated,
    case
        when fault is null and time_fault is null and place_fault is null
            and coalesce(lat between -90 and 90 and lng between -180 and 180, false) then null
        when fault is not null then fault
        when time_fault is not null then time_fault
        when place_fault is not null then place_fault
        when not $coordinates_needed
            and not coalesce(lat_given, false) and not coalesce(lng_given, false) then null
        when not coalesce(lat_given, false) then 'latitude missing'
        when lat is null or isnan(lat) then 'latitude not a number'
        when isinf(lat) then 'latitude infinite'
        when lat not between -90 and 90 then 'latitude outside -90..90'
        when not coalesce(lng_given, false) then 'longitude missing'
        when lng is null or isnan(lng) then 'longitude not a number'
        when isinf(lng) then 'longitude infinite'
        else 'longitude outside -180..180'
    end as fault
from ingest_located
"""
