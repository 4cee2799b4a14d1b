"""Call detail records: a person, a time and the base station that served the call.

A station table (`stations=`, or one that the lab already has) turns station ids into
mast coordinates; a record that names an unknown station is rejected. Records that carry
their own coordinates need no table and keep the station id, if any, as their place.
"""

from __future__ import annotations

import duckdb

from trajlab.errors import IngestError
from trajlab.ingest._columns import DIRECTION, RECORD, REGION, STATION
from trajlab.ingest._kinds import Kind, Placing


def place(con: duckdb.DuckDBPyConnection, mapping: dict[str, str], where: str, *, reference_given: bool) -> Placing:
    located = "lat" in mapping and "lng" in mapping
    if "station" not in mapping:
        if not located:
            raise IngestError(
                f"{where}: neither a station column nor lat and lng; say which column names the station "
                'with columns={"station": "..."} or --column station=...'
            )
        return Placing(mapping)
    if located and not reference_given:
        return Placing(mapping)
    if con.sql("select count(*) from records.station").fetchall() == [(0,)]:
        raise IngestError(
            f"{where}: records name stations, but the lab knows none: pass stations=..., a table of station, lat, lng"
        )
    return Placing(
        mapping={name: column for name, column in mapping.items() if name not in {"lat", "lng"}},
        gazetteer="select station as place, lat, lng from records.station",
        missing="station missing",
        unknown="unknown station",
    )


KIND = Kind(
    columns={**RECORD, "station": STATION, "direction": DIRECTION, "region": REGION},
    needs=("uid", "ts"),
    place=place,
    reference="stations",
)
