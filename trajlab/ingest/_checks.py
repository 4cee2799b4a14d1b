"""Every row becomes a fix or gets one reason why it cannot.

The result of `check_rows` is one row per source row with typed columns and `fault`, null for a
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
from trajlab.ingest._times import parse_times
from trajlab.query import step

CANONICAL = ("uid", "ts", "lat", "lng", "place", "direction", "region")


def select_columns(table: Table, placing: Placing) -> duckdb.DuckDBPyRelation:
    """The mapped columns under their canonical names, as they were written."""
    types = dict(zip(table.relation.columns, map(str, table.relation.types), strict=True))
    chosen = {("place" if name == "station" else name): table.columns[c] for name, c in placing.mapping.items()}
    columns: dict[str, Expression] = {
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
    columns |= {name: columns[name].cast("VARCHAR") for name in as_text}
    return table.relation.select(
        ColumnExpression("source_row"),
        line_fault(table, chosen.values()).alias("fault"),
        *(expression.alias(name) for name, expression in columns.items()),
    )


def line_fault(table: Table, columns: Iterable[str]) -> Expression:
    """What is wrong with the line of each row itself, where these of its columns are read."""
    fault: Expression = ColumnExpression("fault")
    for column in columns if table.repaired else ():
        stray = FunctionExpression("contains", ColumnExpression(column), ConstantExpression(UNPRINTABLE))
        fault = CaseExpression(stray, ConstantExpression("not UTF-8")).otherwise(fault)
    return fault


def check_rows(
    con: duckdb.DuckDBPyConnection,
    raw: duckdb.DuckDBPyRelation,
    placing: Placing,
    *,
    tz: str | None,
    where: str,
) -> None:
    """Define the view `ingest_checked` over `raw`."""
    con.register("ingest_timed", parse_times(con, raw, column=placing.mapping["ts"], tz=tz, where=where))
    as_text = family(str(raw.types[raw.columns.index("lat")])) == "text"
    degrees = step("1_records/_degrees_from_text" if as_text else "1_records/_degrees_from_numbers")
    con.register("ingest_coordinates", con.sql(degrees))
    if placing.gazetteer:
        con.register("ingest_gazetteer", con.sql(placing.gazetteer))
        faults = {"missing": placing.missing, "unknown": placing.unknown}
        con.register("ingest_located", con.sql(step("1_records/_degrees_of_places"), params=faults))
    else:
        con.register("ingest_located", con.sql("select *, null::varchar as place_fault from ingest_coordinates"))
    needed = {"coordinates_needed": placing.coordinates_needed}
    con.register("ingest_checked", con.sql(step("1_records/_row_faults"), params=needed))
