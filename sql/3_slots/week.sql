-- slots.week: the weeks that a schedule is read from, and those left out because nobody was seen in them.
--
-- Weeks are stretches of seven days from the start of the release, so that every weekday is in each of them once. The last
-- may be cut short. A week in which nothing falls into any slot of the timetable is left out: it counts
-- neither for nor against anybody's habits.
--
-- grain:   schedule_id, week
-- reads:   slots.week_clock, slots.person, slots.visit, grid.fix, counts.release
-- params:  schedule_id, release_id, traces_id, index_id, tick_seconds, source
-- shards by: release_id
-- columns:
--   schedule_id  VARCHAR  the schedule, see study.schedule
--   week         INTEGER  weeks since the start of the release, from 0
--   first_day    DATE     its first day
--   records      BIGINT   records, or visits where slots are all that is known, in slots of the timetable
--   traces       BIGINT   traces seen in them
--   counted      BOOLEAN  whether anything was seen, so that the week counts

with in_timetable as (
    select fix.person as trace, clock.week, count(*) as records
    from grid.fix as fix
    join slots.week_clock as clock
        on clock.clock_id = $schedule_id
        and clock.tick = floor(epoch(fix.ts) / $tick_seconds)::bigint
    join slots.person as person
        on person.release_id = $release_id and person.person = fix.person and person.kept
    where fix.index_id = $index_id and $source = 'records'
    group by fix.person, clock.week
    union all
    select visit.trace, clock.week, sum(visit.visits)::bigint as records
    from slots.visit as visit
    join (
        select tick, week
        from slots.week_clock
        where clock_id = $schedule_id
        group by tick, week
    ) as clock on clock.tick = visit.slot
    where visit.traces_id = $traces_id and $source = 'visits'
    group by visit.trace, clock.week
),

week as (
    select distinct week
    from slots.week_clock
    where clock_id = $schedule_id
)

select
    $schedule_id as schedule_id,
    week.week,
    (max(release.starts)::date + week.week * 7)::date as first_day,
    coalesce(sum(in_timetable.records), 0)::bigint as records,
    count(in_timetable.trace) as traces,
    count(in_timetable.trace) > 0 as counted
from week
join counts.release as release on release.release_id = $release_id
left join in_timetable on in_timetable.week = week.week
group by week.week
