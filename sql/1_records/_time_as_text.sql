-- records._time_as_text: what rows say of their time, where the column holds text.
--
-- A local time is one that says nothing but a date and a clock: whatever stands after those is
-- a zone that can be read or the reason of a rejection, never left out. The parameters are
-- regular expressions, one for each way of writing a time (trajlab/ingest/_times.py).
--
-- reads:   ingest_raw
-- params:  compact, naive, engine, offset, name, noon, clock
-- columns: those of ingest_raw but ts, and
--   form    VARCHAR      zone, naive, number or other; null where nothing is written
--   zoned   TIMESTAMPTZ  the instant of a time with a zone
--   number  DOUBLE       the number, in whatever unit
--   local   TIMESTAMP    the local time of a time without a zone
--   doubt   VARCHAR      why none of them can be had

with trimmed as (
    select
        * exclude (ts),
        case
            when ts = '' or starts_with(ts, ' ') or ends_with(ts, ' ') then nullif(trim(ts), '')
            else ts
        end as typed
    from ingest_raw
),

spelt_out as (
    select
        * exclude (typed),
        case
            when substr(typed, 9, 1) in ('T', ' ') and regexp_full_match(typed, $compact) then regexp_replace(
                regexp_replace(
                    typed, '^([0-9]{4})([0-9]{2})([0-9]{2})[T ]([0-9]{2})([0-9]{2})', '\1-\2-\3T\4:\5'
                ),
                '^(.{16})([0-9]{2})', '\1:\2'
            )
            when substr(typed, 2, 1) = '.' or substr(typed, 3, 1) = '.' then regexp_replace(
                typed, '^([0-9]{1,2})[.]([0-9]{1,2})[.]([0-9]{4})(?:,? +|$)', '\3-\2-\1 '
            ).rtrim()
            else typed
        end as written
    from trimmed
),

recognised as (
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
        end as pattern
    from spelt_out
),

offsets_spelt_out as (
    select
        *,
        case pattern
            when 'engine' then try_cast(written as timestamptz)
            when 'name' then try_cast(written as timestamptz)
            when 'offset' then try_cast(
                regexp_replace(
                    regexp_replace(
                        regexp_replace(written, '(?i) *(?:z|utc|gmt)$', '+00'),
                        '(?i) *(?:utc|gmt)? *([+-][0-9:]+)$', '\1'
                    ),
                    '([+-])([0-9])(:[0-9]+)?$', '\10\2\3'
                ) as timestamptz
            )
        end as stated,
        case pattern
            when 'naive' then try_cast(written as timestamp)
            when 'name' then try_cast(regexp_extract(written, '^(.+) ', 1) as timestamp)
        end as shown,
        case when pattern = 'name' and stated is not null then regexp_extract(written, '[^ ]+$') end as zone_name
    from recognised
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
    * exclude (written, pattern, stated, shown, zone_name, skipped, first_of_two),
    case when pattern in ('engine', 'offset', 'name') then 'zone' else pattern end as form,
    case
        when zone_name is null then stated
        when skipped then null
        when timezone(zone_name, first_of_two) = shown then least(first_of_two, stated)
        else stated
    end as zoned,
    case when pattern = 'number' then try_cast(written as double) end as number,
    case when pattern = 'naive' then shown end as local,
    case
        when skipped then 'local time skipped by the clock change'
        when pattern in ('engine', 'offset', 'name', 'zone') and stated is null
            and try_cast(regexp_extract(written, $clock, 1) as timestamp) is not null
            then 'time zone not understood'
    end as doubt
from changes_of_named_zones
