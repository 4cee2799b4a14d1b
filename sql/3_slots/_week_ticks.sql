-- slots._week_ticks: rows of slots.week_clock for records, which have exact times.
--
-- Each tick of the period that falls into a slot of the timetable, `weekly_slot`; ticks of days in $skipped belong to none.
--
-- reads:   weekly_slot
-- params:  clock_id, tz, first, last, midnight, tick, days, skipped
-- columns:
--   clock_id  VARCHAR  as in slots.week_clock
--   tick      BIGINT   seconds since 1970 in UTC divided by the length of a tick
--   week      INTEGER  weeks since the start of the release, from 0
--   number    BIGINT   slot of the timetable, from 1
--   weight    BIGINT   1

with tick as (
    select unnest(range($first::bigint // $tick, $last::bigint // $tick)) as tick
),

local_time as (
    select tick, epoch(timezone($tz, to_timestamp(tick * $tick)))::bigint - $midnight as since_start
    from tick
)

select $clock_id as clock_id, tick, (since_start // 604800)::integer as week, weekly.number, 1::bigint as weight
from local_time
join weekly_slot as weekly
    on weekly.day = since_start // 86400 % 7
    and since_start % 86400 >= weekly.begins
    and since_start % 86400 < weekly.ends
where since_start >= 0 and since_start < $days * 86400 and not list_contains($skipped::bigint[], since_start // 86400)
order by tick, weekly.number
