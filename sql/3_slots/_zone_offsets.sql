-- slots._zone_offsets: every offset of a zone from $first to $last, with an instant from which it holds.
--
-- The first of all, or a change. Seconds ahead of UTC, and seconds since 1970; 0 for the offset that holds at $first.
--
-- reads:   none
-- params:  tz, first, last
-- columns:
--   ahead  BIGINT  seconds that local clocks are ahead of UTC
--   since  BIGINT  seconds since 1970

with quarter as (
    select moment, (epoch(timezone($tz, to_timestamp(moment))) - moment)::bigint as ahead
    from (select unnest(range($first::bigint, $last::bigint, 900)) as moment)
),

beside_the_one_before as (
    select moment, ahead, lag(moment) over in_time as before, lag(ahead) over in_time as ahead_before
    from quarter
    window in_time as (order by moment)
),

second as (
    select ahead, unnest(range(before + 1, moment + 1)) as moment
    from beside_the_one_before
    where ahead <> ahead_before
),

offset_change as (
    select ahead, min(moment) as since
    from second
    where (epoch(timezone($tz, to_timestamp(moment))) - moment)::bigint = ahead
    group by ahead, moment // 900
    union all
    select ahead, 0 as since from quarter where moment = $first
)

select ahead, since
from offset_change
