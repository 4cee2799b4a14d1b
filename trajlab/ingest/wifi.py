"""Wi-Fi sessions: a device, a time and the access point or building that saw it.

A place needs no coordinates. With `places=` a record that names a place outside the
table is rejected; without it every place seen is added to `records.place`, at the mean
of its records' coordinates where they have any.
"""

from __future__ import annotations

import duckdb

from trajlab.ingest._columns import PLACE, RECORD, REGION
from trajlab.ingest._kinds import Kind, Placing


def place(con: duckdb.DuckDBPyConnection, mapping: dict[str, str], where: str, *, reference_given: bool) -> Placing:
    del con, where
    return Placing(
        mapping=mapping,
        gazetteer="select place, lat, lng from records.place",
        coordinates_needed=False,
        missing="place missing",
        unknown="unknown place" if reference_given else None,
    )


KIND = Kind(
    columns={**RECORD, "place": PLACE, "region": REGION},
    needs=("uid", "ts", "place"),
    place=place,
    reference="places",
)
