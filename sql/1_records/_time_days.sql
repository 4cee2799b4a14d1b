-- records._time_days: the calendar days of a zone, from the end of 1969 to 2100, and which have a clock change.
--
-- A change near midnight can repeat or skip minutes of two days.
--
-- reads:   none
-- params:  tz
-- columns:
--   day     DATE     the calendar day
--   shift   BIGINT   microseconds that local time is ahead of UTC when the day starts
--   plain   BOOLEAN  whether the whole day runs without a clock change
--   longer  BIGINT   microseconds by which the day or the one before exceeds 24 hours

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
    day::date as day,
    epoch_us(day) - starts as shift,
    extra = 0 and not skipped and not next_skipped
        and (extra_before = 0 or timezone($tz, make_timestamptz(starts - extra_before)) <> day) as plain,
    greatest(extra, extra_before) as longer
from beside_each_other
