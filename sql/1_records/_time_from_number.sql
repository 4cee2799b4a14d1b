-- records._time_from_number: numbers become instants since 1970 UTC, or get a reason why they cannot be meant so.
--
-- Seconds from 1e8, milliseconds from 1e11, microseconds from 1e14, nanoseconds from 1e17. A
-- number before March 1973 in its unit, or one that spells a date, was not meant as time since
-- 1970: 240304 would be the third of January 1970, 2024030410 a day of 2034, 202403041030 one
-- of 1976. Digits are taken apart as whole numbers: `//` of two doubles keeps the fraction.
--
-- reads:   ingest_form
-- params:  none
-- columns: those of ingest_form but zoned, number and doubt, and
--   instant  TIMESTAMPTZ  the instant of a time with a zone or of a number
--   doubt    VARCHAR      why there is none

with to_the_second as (
    select
        *,
        (case
            when number is null or number <> floor(number) then null
            when number between 10101 and 991231 then number * 1e6
            when number between 19000101 and 21001231 then number * 1e6
            when number between 1900010100 and 2100123123 then number * 1e4
            when number between 190001010000 and 210012312359 then number * 1e2
            when number between 19000101000000 and 21001231235959 then number
        end)::bigint as digits
    from ingest_form
),

spelt as (
    select
        * exclude (digits),
        coalesce(
            digits // 100000000 % 100 between 1 and 12 and digits // 1000000 % 100 between 1 and 31
            and digits // 10000 % 100 < 24 and digits // 100 % 100 < 60 and digits % 100 < 60,
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
