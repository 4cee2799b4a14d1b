"""From whatever a file calls a time to an instant.

- Timestamps with a zone are kept. Numbers are instants since 1970 UTC: seconds from 1e8,
  milliseconds from 1e11, microseconds from 1e14, nanoseconds from 1e17. That is March 1973
  in each; smaller numbers, and those that spell a calendar date (20130401, 2013040112),
  are rejected with a reason that says what they look like.
- Times without a zone are read in `tz`. A time that the clock skipped (spring) never
  happened and is rejected; one that it showed twice (autumn) is the first of the two.
- Years outside 1970–2100 are rejected.

Day lengths in the zone are worked out once (131 years are 48,000 days). On the day of a
clock change the calendar is asked for each row; on all others local time is the instant
plus a constant, many times faster.
"""

from __future__ import annotations

import difflib
import zoneinfo

import duckdb

from trajlab.errors import IngestError
from trajlab.ingest._columns import family
from trajlab.ingest._time_forms import FORMS, NUMBERS_READ, PATTERNS

NO_ZONE = "no zone was given: days and hours are those of UTC; say tz=... (--tz), such as Europe/Lisbon, for local ones"


def check_zone(con: duckdb.DuckDBPyConnection, tz: str) -> None:
    """Raise unless the engine and Python both know the zone by this very name."""
    known = [str(name) for (name,) in con.sql("select name from pg_timezone_names()").fetchall()]
    known = sorted(set(known) & zoneinfo.available_timezones())
    if tz in known:
        return
    near = [name for name in known if name.lower() == tz.lower()] or difflib.get_close_matches(tz, known, n=3)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "use a name such as 'Europe/Lisbon'"
    raise IngestError(f"no time zone is called {tz!r}; {hint}")


def read_times(
    con: duckdb.DuckDBPyConnection, raw: duckdb.DuckDBPyRelation, *, column: str, tz: str | None, where: str
) -> duckdb.DuckDBPyRelation:
    """`raw` with `ts` as an instant, and `form`, `time_fault`, `repeated` beside it.

    Every row has an instant or a fault. `form` is `zone`, `naive`, `number` or `other`: what
    the row said. `repeated` marks the local times that the clock showed twice.
    """
    written_as = str(raw.types[raw.columns.index("ts")])
    kind = family(written_as)
    if kind == "other":
        raise IngestError(f"{where}: column {column!r} holds no times: its type is {written_as}")
    if written_as == "FLOAT":
        raise IngestError(
            f"{where}: column {column!r} holds 32-bit floats, which are off by minutes as times: use 64-bit numbers"
        )
    if kind == "naive" and tz is None:
        raise IngestError(no_zone(where, column))
    con.register("ingest_raw", raw)
    con.register("ingest_form", con.sql(FORMS[kind], params=PATTERNS if kind == "text" else None))
    if kind == "zone":
        instants = con.sql("select * exclude (zoned), zoned as instant, false as repeated from ingest_form")
    else:
        _lay_out_days(con, tz)
        con.register("ingest_step", con.sql(NUMBERS_READ))
        con.register("ingest_resolved", con.sql(_LOCAL_READ, params={"tz": tz}))
        instants = con.sql(_FIRST_OF_TWO, params={"tz": tz})
    con.register("ingest_instant", instants)
    return con.sql(_JUDGED, params={"zone_given": tz is not None})


def no_zone(where: str, column: str) -> str:
    return f"{where}: times in column {column!r} carry no zone: say which with tz=..., for example tz='Europe/Lisbon'"


def _lay_out_days(con: duckdb.DuckDBPyConnection, tz: str | None) -> None:
    """Once for all sources of a call: they share one zone."""
    if con.sql("select 1 from duckdb_tables() where table_name = 'ingest_day'").fetchall():
        return
    con.execute("create temp table ingest_day (day date, shift bigint, plain boolean, longer bigint)")
    if tz is not None:
        con.execute(_DAYS, {"tz": tz})


# One row per calendar day of the zone: how far local time is ahead of UTC when it starts, whether the
# whole day runs without a clock change, and by how much the day or the one before exceeds 24 hours.
# A change near midnight can repeat or skip minutes of two days.
_DAYS = """
insert into ingest_day
with days as (
    select (date '1969-12-30' + i::integer)::timestamp as day from range(47852) as t(i)
),
starts as (
    select day, timezone($tz, day) as starts from days
),
lengths as (
    select
        day,
        epoch_us(starts) as starts,
        timezone($tz, starts) <> day as skipped,
        epoch_us(lead(starts) over (order by day)) - epoch_us(starts) - 86400000000 as extra
    from starts
),
beside_each_other as (
    select
        *,
        lead(skipped, 1, false) over (order by day) as next_skipped,
        greatest(lag(extra, 1, 0) over (order by day), 0) as extra_before
    from lengths
)
select
    day::date,
    epoch_us(day) - starts,
    extra = 0 and not skipped and not next_skipped
        and (extra_before = 0 or timezone($tz, make_timestamptz(starts - extra_before)) <> day),
    greatest(extra, extra_before)
from beside_each_other
"""

# Of a local time that the clock showed twice the calendar gives the second.
_LOCAL_READ = """
select
    ingest_step.* exclude (instant),
    case
        when local is null then instant
        when plain then make_timestamptz(epoch_us(local) - shift)
        when plain is not null then timezone($tz, local)
    end as instant,
    case when local is not null and not plain then longer end as longer
from ingest_step
left join ingest_day on ingest_day.day = local::date
"""

_FIRST_OF_TWO = """
with checked as (
    select
        *,
        case
            when longer > 0
                and timezone($tz, make_timestamptz(epoch_us(instant) - longer)) = local then true
            else false
        end as repeated
    from ingest_resolved
)
select
    * exclude (instant, longer),
    case
        when longer is null then instant
        when timezone($tz, instant) <> local then null
        when repeated then make_timestamptz(epoch_us(instant) - longer)
        else instant
    end as instant
from checked
"""

_JUDGED = """
select
    * exclude (instant, local, doubt),
    instant as ts,
    case
        when instant >= timestamptz '1970-01-01 00:00:00+00'
            and instant < timestamptz '2101-01-01 00:00:00+00' then null
        when instant is not null then 'time out of range'
        when form is null then 'time missing'
        when doubt is not null then doubt
        when local is null then 'time not understood'
        when not isfinite(local) or year(local) not between 1970 and 2100 then 'time out of range'
        when not $zone_given then 'time without zone'
        else 'local time skipped by the clock change'
    end as time_fault
from ingest_instant
"""
