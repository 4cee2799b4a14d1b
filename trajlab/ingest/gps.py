"""GPS fixes: a person, a time, a latitude and a longitude in each row."""

from __future__ import annotations

from trajlab.ingest._columns import RECORD
from trajlab.ingest._kinds import Kind

KIND = Kind(columns=RECORD, needs=("uid", "ts", "lat", "lng"))
