-- slots._clock_ticks: rows of slots.clock, the slot of every tick of a release's period by the local clock.
--
-- reads:   none
-- params:  release_id, tz, first, last, midnight, tick, seconds, slots
-- columns:
--   release_id  VARCHAR  the release
--   tick        BIGINT   seconds since 1970 in UTC divided by the length of a tick
--   slot        INTEGER  the slot, from 0

with tick as (
    select unnest(range($first::bigint // $tick, $last::bigint // $tick)) as tick
),

local_time as (
    select tick, epoch(timezone($tz, to_timestamp(tick * $tick)))::bigint - $midnight as since_start
    from tick
)

select $release_id as release_id, tick, (since_start // $seconds)::integer as slot
from local_time
where since_start >= 0 and since_start < $slots::bigint * $seconds
order by tick
