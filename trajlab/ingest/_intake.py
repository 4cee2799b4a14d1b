"""Judged sources go into the lab: who they are about, their fixes, their rejected rows.

They are scanned twice: once to count (and to meet the people), once to sort fixes by
person and time. A third look is taken only where some row was refused. People are known by
their id as text, without surrounding spaces; new ones are numbered source by source, in the
order of their ids, after those that the lab has.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import duckdb

from trajlab.errors import IngestError
from trajlab.ingest._csvfile import LINE_FAULTS
from trajlab.ingest._times import no_zone


@dataclass(frozen=True, slots=True)
class Survey:
    """What a first look at a source tells."""

    rows: int
    faults: int
    zoned: int = 0
    naive: int = 0
    numbers: int = 0
    repeated: int = 0
    at_zero: int = 0
    bad_times: int = 0
    no_zone: int = 0
    with_degrees: int = 0
    fits_swapped: int = 0
    only_fits_swapped: int = 0
    only_fits_as_is: int = 0
    one_fault: str | None = None
    """The reason of every refused row, where there is one for all of them."""

    @property
    def looks_swapped(self) -> bool:
        """Most latitudes are impossible, no longitude is, and swapped nearly all are right."""
        return (
            2 * self.only_fits_swapped > self.with_degrees
            and self.only_fits_as_is == 0
            and 100 * self.fits_swapped >= 99 * self.with_degrees
        )


def survey(con: duckdb.DuckDBPyConnection, only: int | None) -> dict[int, Survey]:
    """Count `ingest_judged` by source and person, and look closer where any row is unusual.

    `only` is the source that all rows are of; None where each row has its `source_id`.
    """
    con.execute(_SURVEY.format(**_source(only)))
    counted = con.sql(_BY_SOURCE).fetchall()
    if not any(unusual for *_, unusual in counted):
        return {source: Survey(rows, faults) for source, rows, faults, _ in counted}
    closer = {source: more for source, *more in con.sql(_CLOSER_LOOK.format(**_source(only))).fetchall()}
    return {source: Survey(rows, faults, *closer[source]) for source, rows, faults, _ in counted}


def refuse_unreadable_times(seen: Survey, *, tz: str | None, column: str, where: str) -> None:
    if tz is None and seen.no_zone:
        if seen.zoned or seen.numbers:
            raise IngestError(
                f"{where}: times in column {column!r} carry a zone in {seen.zoned + seen.numbers:,} rows and "
                f"none in {seen.naive:,}: say which zone the others are in with tz=..., "
                "for example tz='Europe/Lisbon'"
            )
        raise IngestError(no_zone(where, column))
    if seen.rows and seen.bad_times == seen.rows:
        why = f": {seen.one_fault}" if seen.one_fault not in (None, "time not understood") else ""
        raise IngestError(
            f"{where}: no time in column {column!r} could be read, from row 1 on{why}; expected ISO 8601 such as "
            "2013-04-01T12:00:00+02:00, or seconds or milliseconds since 1970"
        )


def take_in(con: duckdb.DuckDBPyConnection, only: int | None, *, given: Collection[str], faults: int) -> int:
    """Write the fixes and rejected rows of `ingest_judged`; the number of new people.

    `given` are the canonical columns that the sources have: what they lack is not sorted along.
    """
    people = con.table("ingest_survey")
    decimals = str(people.types[people.columns.index("uid")]) in {"FLOAT", "DOUBLE"}
    con.execute(_FACES, {"decimals": decimals})
    before = con.sql("select count(*) from records.person").fetchall()[0][0]
    con.execute(_NEW_PEOPLE)
    con.execute(_NUMBERED_FACES)
    con.execute(_FIXES.format(**_source(only), place=", place" if "place" in given else ""))
    if "direction" in given or "region" in given:
        con.execute(_CALLS.format(**_source(only)))
    faceless = con.sql("select count(*) from ingest_face where uid_fault is not null").fetchall()[0][0]
    if faults or faceless:
        con.execute(_REJECTED.format(**_source(only)), {"line_faults": list(LINE_FAULTS)})
    after = con.sql("select count(*) from records.person").fetchall()[0][0]
    return int(after - before)


def _source(only: int | None) -> dict[str, str]:
    """How statements name the source: a column costs a tenth of the time where all rows are of one."""
    if only is None:
        return {"source": "source_id", "by_source": "source_id, "}
    return {"source": f"{only:d}::integer", "by_source": ""}


_SURVEY = """
create or replace temp table ingest_survey as
select
    {source} as source_id,
    uid,
    count(*) as rows,
    count(fault) as faults,
    count(*) filter (
        fault is not null or form = 'naive' or (lat = 0 and lng = 0) or abs(lat) > 90
    ) as unusual
from ingest_judged
group by {by_source}uid
"""

_BY_SOURCE = """
select source_id, sum(rows)::bigint, sum(faults)::bigint, sum(unusual)::bigint
from ingest_survey
group by source_id
order by source_id
"""

_CLOSER_LOOK = """
with degrees as (
    select
        *,
        isfinite(lat) and isfinite(lng) as both_numbers,
        abs(lat) <= 90 and abs(lng) <= 180 as fits,
        abs(lng) <= 90 and abs(lat) <= 180 as fits_swapped
    from ingest_judged
)
select
    {source},
    count(*) filter (form = 'zone'),
    count(*) filter (form = 'naive'),
    count(*) filter (form = 'number'),
    count(*) filter (repeated and fault is null),
    count(*) filter (lat = 0 and lng = 0 and fault is null),
    count(*) filter (starts_with(fault, 'time ') and fault not in ('time missing', 'time without zone')),
    count(*) filter (fault = 'time without zone'),
    count(*) filter (both_numbers),
    count(*) filter (both_numbers and fits_swapped),
    count(*) filter (both_numbers and fits_swapped and not fits),
    count(*) filter (both_numbers and fits and not fits_swapped),
    case when min(fault) = max(fault) then min(fault) end
from degrees
group by all
"""

# A whole number that went through a float column (as pandas does where ids are missing) loses its ".0".
_FACES = """
create or replace temp table ingest_face as
with called as (
    select
        uid,
        min(source_id) filter (rows > faults) as first_source,
        case
            when not $decimals then nullif(trim(uid::varchar), '')
            when uid::varchar in ('nan', 'inf', '-inf') then null
            when regexp_matches(uid::varchar, '[.]0$|e[+]') and try_cast(uid as hugeint) is not null
                then try_cast(uid as hugeint)::varchar
            else uid::varchar
        end as name
    from ingest_survey
    group by uid
)
select
    uid,
    name,
    first_source,
    case
        when name is null then 'person missing'
        when length(name) > 1000 then 'person id longer than 1000 characters'
    end as uid_fault
from called
"""

_NEW_PEOPLE = """
insert into records.person
with newcomers as (
    select name, min(first_source) as first_source
    from ingest_face
    where first_source is not null and uid_fault is null and name not in (select uid from records.person)
    group by name
)
select
    (
        coalesce((select max(person) from records.person), 0) + row_number() over (order by first_source, name)
    )::integer,
    name
from newcomers
"""

_NUMBERED_FACES = """
create or replace temp table ingest_face as
select face.uid, face.uid_fault, person.person
from ingest_face as face
left join records.person as person on person.uid = face.name and face.uid_fault is null
"""

# Two sort keys: a third, of doubles, makes the sort three times slower.
_FIXES = """
insert into records.fix by name
select {source} as source_id, source_row, person, ts, lat, lng{place}
from (
    select {by_source}source_row, person, ts, lat, lng{place}
    from ingest_judged
    join ingest_face using (uid)
    where fault is null and person is not null
    order by {by_source}person, ts
)
"""

_CALLS = """
insert into records.call by name
select {source} as source_id, source_row, direction, region
from ingest_judged
join ingest_face using (uid)
where fault is null and person is not null and (direction is not null or region is not null)
order by {by_source}source_row
"""

_REJECTED = """
insert into records.rejected
select
    {source},
    source_row,
    case when list_contains($line_faults::varchar[], fault) then fault else coalesce(uid_fault, fault) end
from ingest_judged as judged
join ingest_face as face on face.uid is not distinct from judged.uid
where judged.fault is not null or face.person is null
order by {by_source}source_row
"""
