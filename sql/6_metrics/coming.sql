-- metrics.coming: when people come to each place and leave it, by weekday and time of day (ma2017, figure 1).
--
-- Somebody comes to a place with the first record there after one elsewhere, and leaves it with the last before one
-- elsewhere, where no more than an hour lies between the two: after longer silence nobody knows when. Lessons
-- show: people come as one begins and leave as it ends. Summed over all weeks of the release.
--
-- grain:   release_id, cell, weekday, minute
-- reads:   grid.fix, slots.week_clock, slots.person
-- params:  release_id, index_id, clock_id, tick_seconds
-- shards by: release_id
-- columns:
--   release_id  VARCHAR  the release
--   cell        UBIGINT  the place, see grid.cell
--   weekday     INTEGER  1 Monday to 7 Sunday
--   minute      INTEGER  minutes since midnight, local time, in steps of 5
--   arrivals    BIGINT   people who came in these five minutes
--   departures  BIGINT   people who left

with step as (
    select
        fix.person,
        floor(epoch(fix.ts) / $tick_seconds)::bigint as tick,
        fix.cell,
        epoch(fix.ts) as moment,
        lag(fix.cell) over in_time as cell_before,
        lag(epoch(fix.ts)) over in_time as moment_before,
        lead(fix.cell) over in_time as cell_after,
        lead(epoch(fix.ts)) over in_time as moment_after
    from grid.fix as fix
    join slots.person as person
        on person.release_id = $release_id and person.person = fix.person and person.kept
    where fix.index_id = $index_id
    window in_time as (partition by fix.person order by fix.ts, fix.cell)
),

change as (
    select
        tick,
        cell,
        case when cell_before <> cell and moment - moment_before <= 3600 then 1 else 0 end as came,
        case when cell_after <> cell and moment_after - moment <= 3600 then 1 else 0 end as left_it
    from step
)

select
    $release_id as release_id,
    change.cell,
    ((clock.number - 1) // 288 + 1)::integer as weekday,
    ((clock.number - 1) % 288 * 5)::integer as minute,
    sum(change.came)::bigint as arrivals,
    sum(change.left_it)::bigint as departures
from change
join slots.week_clock as clock on clock.clock_id = $clock_id and clock.tick = change.tick
where change.came + change.left_it > 0
group by change.cell, clock.number
