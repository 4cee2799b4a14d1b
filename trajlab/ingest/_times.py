"""From whatever a file calls a time to an instant.

- Timestamps with a zone are kept. Numbers are instants since 1970 UTC: seconds from 1e8,
  milliseconds from 1e11, microseconds from 1e14, nanoseconds from 1e17. That is March 1973
  in each; smaller numbers, and those that spell a calendar date (20130401, 2013040112),
  are rejected with a reason that says what they look like.
- Times without a zone are read in `tz`. A time that the clock skipped (spring) never
  happened and is rejected; one that it showed twice (autumn) is the first of the two.
- Zones in text are offsets up to 18 hours, alone or after UTC or GMT (`UTC+5` is five hours
  ahead), UTC, or names such as Europe/Lisbon, by the zone database: `Etc/GMT+5` is five hours
  behind. Letters such as IST or BST mean one place to one reader and another to the next.
- The basic form of ISO 8601 (20130401T120000Z, also with a blank for the T) is read as the extended one
  (2013-04-01T12:00:00Z); 1.4.2013 is the first of April: dates with dots begin with the day wherever they are used.
- Years outside 1970–2100 are rejected.

    _time_as_text (or as_number, with_zone, without_zone) -> _time_from_number -> _time_from_local
        -> _time_first_of_two -> _time_faults                                 in sql/1_records

Day lengths in the zone are worked out once (`_time_days`: 131 years are 48,000 days).
"""

from __future__ import annotations

import difflib
import functools
import zoneinfo
from typing import TYPE_CHECKING

import duckdb

from trajlab.errors import IngestError
from trajlab.ingest._columns import family
from trajlab.query import step

if TYPE_CHECKING:
    import pyarrow as pa

NO_ZONE = "no zone was given: days and hours are those of UTC; say tz=... (--tz), such as Europe/Lisbon, for local ones"

_DATE = r"[0-9]{4}(?:-[0-9]{1,2}-|/[0-9]{1,2}/)[0-9]{1,2}"
_CLOCK = _DATE + r"(?:T|[ \t]+)[0-9]{1,2}:[0-9]{1,2}(?::[0-9]{1,2}(?:[.][0-9]+)?)?"
_HOURS = r"(?:0[0-9]|1[0-8])(?::?[0-5][0-9](?::[0-5][0-9])?)?"
PATTERNS = {
    "compact": r"[0-9]{8}[T ][0-9]{4}(?:[0-9]{2}(?:[.][0-9]+)?)?(?:[^0-9.].*)?",
    "naive": rf"{_CLOCK}|{_DATE}",
    "engine": rf"{_CLOCK}(?:Z|[+-]{_HOURS})",
    "offset": rf"(?i){_CLOCK} *(?:z|utc|gmt|(?:utc|gmt)? *[+-](?:{_HOURS}|[0-9](?::[0-5][0-9])?))",
    "name": rf"(?i){_CLOCK} +[a-z]+/[a-z0-9_/+-]+",
    "noon": rf"(?i){_CLOCK} *[ap][.]?m[.]?",
    "clock": rf"({_CLOCK}) *[^0-9:. \t].*",
}
"""How a time may be written: what the engine reads by itself, offsets, names of zones, and what is no time."""

FORMS = {
    "zone": "1_records/_time_with_zone",
    "naive": "1_records/_time_without_zone",
    "number": "1_records/_time_as_number",
    "text": "1_records/_time_as_text",
}
"""The step that reads times of each family of types."""

_DAYS: dict[str, pa.Table] = {}
"""The days of the zones asked for last: working them out takes longer than reading a small file."""
_ZONES_AT_HAND = 4


def check_zone(con: duckdb.DuckDBPyConnection, tz: str) -> None:
    """Raise unless the engine and Python both know the zone by this very name."""
    known = [str(name) for (name,) in con.sql("select name from pg_timezone_names()").fetchall()]
    known = sorted(_zones_of_python().intersection(known))
    if tz in known:
        return
    near = [name for name in known if name.lower() == tz.lower()] or difflib.get_close_matches(tz, known, n=3)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "use a name such as 'Europe/Lisbon'"
    raise IngestError(f"no time zone is called {tz!r}; {hint}")


@functools.cache
def _zones_of_python() -> frozenset[str]:
    """Once in a process: every zone is a file that has to be looked at."""
    return frozenset(zoneinfo.available_timezones())


def parse_times(
    con: duckdb.DuckDBPyConnection, raw: duckdb.DuckDBPyRelation, *, column: str, tz: str | None, where: str
) -> duckdb.DuckDBPyRelation:
    """`raw` with `ts` as an instant, and `form`, `time_fault`, `repeated` beside it.

    Every row has an instant or a fault. `form` is `zone`, `naive`, `number` or `other`: what
    the row said. `repeated` marks the local times that the clock showed twice.
    """
    column_type = str(raw.types[raw.columns.index("ts")])
    kind = family(column_type)
    if kind == "other":
        raise IngestError(f"{where}: column {column!r} holds no times: its type is {column_type}")
    if column_type == "FLOAT":
        raise IngestError(
            f"{where}: column {column!r} holds 32-bit floats, which are off by minutes as times: use 64-bit numbers"
        )
    if kind == "naive" and tz is None:
        raise IngestError(no_zone(where, column))
    con.register("ingest_raw", raw)
    con.register("ingest_form", con.sql(step(FORMS[kind]), params=PATTERNS if kind == "text" else None))
    if kind == "zone":
        instants = con.sql("select * exclude (zoned), zoned as instant, false as repeated from ingest_form")
    else:
        _create_days(con, tz)
        con.register("ingest_numbered", con.sql(step("1_records/_time_from_number")))
        con.register("ingest_calendar", con.sql(step("1_records/_time_from_local"), params={"tz": tz}))
        instants = con.sql(step("1_records/_time_first_of_two"), params={"tz": tz})
    con.register("ingest_instant", instants)
    return con.sql(step("1_records/_time_faults"), params={"zone_given": tz is not None})


def no_zone(where: str, column: str) -> str:
    return f"{where}: times in column {column!r} carry no zone: say which with tz=..., for example tz='Europe/Lisbon'"


def _create_days(con: duckdb.DuckDBPyConnection, tz: str | None) -> None:
    """Once for all sources of a call: they share one zone. Without a zone no day is known."""
    if con.sql("select 1 from duckdb_tables() where table_name = 'ingest_day'").fetchall():
        return
    con.execute("create temp table ingest_day (day date, shift bigint, plain boolean, longer bigint)")
    if tz is None:
        return
    if tz not in _DAYS:
        if len(_DAYS) == _ZONES_AT_HAND:
            _DAYS.clear()
        _DAYS[tz] = con.sql(step("1_records/_time_days"), params={"tz": tz}).to_arrow_table()
    con.from_arrow(_DAYS[tz]).insert_into("ingest_day")
