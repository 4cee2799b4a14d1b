"""What a row says of its time: an instant, a local time, a number, or something that is no time.

Each query gives a row of `ingest_raw` five columns in place of `ts`: `form` (`zone`, `naive`,
`number`, `other`, null where nothing is written), the instant `zoned`, the `local` time, the
`number`, and `doubt`, the reason why none of them can be had. A local time is one that says
nothing but a date and a clock: whatever stands after those is a zone that is understood or
the reason of a rejection, never left out.

Zones are offsets up to 18 hours, alone or after UTC or GMT (`UTC+5` is five hours ahead),
UTC, or names such as Europe/Lisbon, by the zone database: `Etc/GMT+5` is five hours behind.
Letters such as IST or BST mean one place to one reader and another to the next.
"""

from __future__ import annotations

_DATE = r"[0-9]{4}(?:-[0-9]{1,2}-|/[0-9]{1,2}/)[0-9]{1,2}"
_CLOCK = _DATE + r"(?:T|[ \t]+)[0-9]{1,2}:[0-9]{1,2}(?::[0-9]{1,2}(?:[.][0-9]+)?)?"
_HOURS = r"(?:0[0-9]|1[0-8])(?::?[0-5][0-9](?::[0-5][0-9])?)?"
PATTERNS = {
    "naive": rf"{_CLOCK}|{_DATE}",
    "engine": rf"{_CLOCK}(?:Z|[+-]{_HOURS})",
    "offset": rf"(?i){_CLOCK} *(?:z|utc|gmt|(?:utc|gmt)? *[+-](?:{_HOURS}|[0-9](?::[0-5][0-9])?))",
    "name": rf"(?i){_CLOCK} +[a-z]+/[a-z0-9_/+-]+",
    "noon": rf"(?i){_CLOCK} *[ap][.]?m[.]?",
    "clock": rf"({_CLOCK}) *[^0-9:. \t].*",
}

_TEXT = """
with trimmed as (
    select
        * exclude (ts),
        case
            when ts = '' or starts_with(ts, ' ') or ends_with(ts, ' ') then nullif(trim(ts), '')
            else ts
        end as written
    from ingest_raw
),
seen as (
    select
        *,
        case
            when written is null then null
            when substr(written, 5, 1) not in ('-', '/') then 'number'
            when regexp_full_match(written, $naive) then 'naive'
            when regexp_full_match(written, $engine) then 'engine'
            when regexp_full_match(written, $offset) then 'offset'
            when regexp_full_match(written, $name) then 'name'
            when regexp_full_match(written, $noon) then 'other'
            when regexp_full_match(written, $clock) then 'zone'
            else 'other'
        end as look
    from trimmed
),
offsets_spelt_out as (
    select
        *,
        case look
            when 'engine' then try_cast(written as timestamptz)
            when 'name' then try_cast(written as timestamptz)
            when 'offset' then try_cast(
                regexp_replace(
                    regexp_replace(
                        regexp_replace(written, '(?i) *(?:z|utc|gmt)$', '+00'),
                        '(?i) *(?:utc|gmt)? *([+-][0-9:]+)$', '\\1'
                    ),
                    '([+-])([0-9])(:[0-9]+)?$', '\\10\\2\\3'
                ) as timestamptz
            )
        end as stated,
        case look
            when 'naive' then try_cast(written as timestamp)
            when 'name' then try_cast(regexp_extract(written, '^(.+) ', 1) as timestamp)
        end as shown,
        case when look = 'name' and stated is not null then regexp_extract(written, '[^ ]+$') end as zone_name
    from seen
),
changes_of_named_zones as (
    select
        *,
        case when zone_name is not null then timezone(zone_name, stated) <> shown end as skipped,
        case when zone_name is not null then make_timestamptz(
            epoch_us(shown) - epoch_us(timezone(zone_name, stated - interval 24 hours))
            + epoch_us(stated - interval 24 hours)
        ) end as first_of_two
    from offsets_spelt_out
)
select
    * exclude (written, look, stated, shown, zone_name, skipped, first_of_two),
    case when look in ('engine', 'offset', 'name') then 'zone' else look end as form,
    case
        when zone_name is null then stated
        when skipped then null
        when timezone(zone_name, first_of_two) = shown then least(first_of_two, stated)
        else stated
    end as zoned,
    case when look = 'number' then try_cast(written as double) end as number,
    case when look = 'naive' then shown end as local,
    case
        when skipped then 'local time skipped by the clock change'
        when look in ('engine', 'offset', 'name', 'zone') and stated is null
            and try_cast(regexp_extract(written, $clock, 1) as timestamp) is not null
            then 'time zone not understood'
    end as doubt
from changes_of_named_zones
"""

FORMS = {
    "zone": """
        select
            * exclude (ts),
            case when ts is not null then 'zone' end as form,
            try_cast(ts as timestamptz) as zoned,
            null::timestamp as local,
            null::varchar as doubt
        from ingest_raw
    """,
    "naive": """
        select
            * exclude (ts),
            case when ts is not null then 'naive' end as form,
            null::timestamptz as zoned,
            null::double as number,
            try_cast(ts as timestamp) as local,
            null::varchar as doubt
        from ingest_raw
    """,
    "number": """
        select
            * exclude (ts),
            case when ts is not null and not isnan(ts::double) then 'number' end as form,
            null::timestamptz as zoned,
            ts::double as number,
            null::timestamp as local,
            null::varchar as doubt
        from ingest_raw
    """,
    "text": _TEXT,
}

# A number before March 1973 in its unit, or one that spells a date, was not meant as time since 1970:
# 240304 would be the third of January 1970, 2024030410 a day of 2034, 202403041030 one of 1976.
NUMBERS_READ = """
with to_the_second as (
    select
        *,
        case
            when number is null or number <> floor(number) then null
            when number between 10101 and 991231 then number * 1e6
            when number between 19000101 and 21001231 then number * 1e6
            when number between 1900010100 and 2100123123 then number * 1e4
            when number between 190001010000 and 210012312359 then number * 1e2
            when number between 19000101000000 and 21001231235959 then number
        end as digits
    from ingest_form
),
spelt as (
    select
        * exclude (digits),
        coalesce(
            digits // 1e8 % 100 between 1 and 12 and digits // 1e6 % 100 between 1 and 31
            and digits // 1e4 % 100 < 24 and digits // 1e2 % 100 < 60 and digits % 100 < 60,
            false
        ) as a_date
    from to_the_second
)
select
    * exclude (zoned, number, a_date, doubt),
    case
        when form = 'zone' then zoned
        when form = 'number' then make_timestamptz(round(case
            when isnan(number) or a_date then null
            when abs(number) < 1e8 and number >= 0 then null
            when abs(number) < 1e11 then number * 1e6
            when abs(number) < 1e14 then number * 1e3
            when abs(number) < 1e17 then number
            when abs(number) < 1e20 then number / 1e3
        end)::bigint)
    end as instant,
    case
        when doubt is not null then doubt
        when form <> 'number' or isnan(number) then null
        when number between 20000 and 80000 then 'time looks like a day number of a spreadsheet'
        when a_date then case length(number::bigint::varchar)
            when 8 then 'time looks like a date: yyyymmdd'
            when 10 then 'time looks like a date: yyyymmddhh'
            when 12 then 'time looks like a date: yyyymmddhhmm'
            when 14 then 'time looks like a date: yyyymmddhhmmss'
            else 'time looks like a date: yymmdd'
        end
        when number >= 0 and number < 1e8 then 'time too small a number for seconds since 1970'
    end as doubt
from spelt
"""
