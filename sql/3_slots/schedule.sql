-- slots.schedule: where each trace usually is in each slot of a timetable: the periodic schedule (ma2017).
--
-- The place of a week is the one with most records in the slot; among equals the one seen first, then the
-- smaller id. The usual place is the one of most weeks; among equals that of the earlier week, then the
-- smaller id. Whoever was never seen in a slot has no row for it.
--
-- grain:   schedule_id, trace, number
-- reads:   slots.week_clock, slots.person, slots.visit, grid.fix
-- params:  schedule_id, release_id, traces_id, index_id, tick_seconds, source
-- shards by: none
-- columns:
--   schedule_id  VARCHAR  the schedule, see study.schedule
--   trace        INTEGER  the trace, see slots.trace
--   number       INTEGER  slot of the timetable, see slots.timetable
--   cell         UBIGINT  the usual place, see grid.cell
--   appear       INTEGER  weeks in which it was the place of the week
--   seen         INTEGER  weeks in which the trace was seen in the slot at all

with seen_at as (
    select fix.person as trace, clock.week, clock.number, fix.cell, count(*) as weight, min(epoch(fix.ts)) as first_seen
    from grid.fix as fix
    join slots.week_clock as clock
        on clock.clock_id = $schedule_id
        and clock.tick = floor(epoch(fix.ts) / $tick_seconds)::bigint
    join slots.person as person
        on person.release_id = $release_id and person.person = fix.person and person.kept
    where fix.index_id = $index_id and $source = 'records'
    group by fix.person, clock.week, clock.number, fix.cell
    union all
    select
        visit.trace,
        clock.week,
        clock.number,
        visit.cell,
        sum(visit.visits * clock.weight)::bigint as weight,
        min(visit.slot)::double as first_seen
    from slots.visit as visit
    join slots.week_clock as clock on clock.clock_id = $schedule_id and clock.tick = visit.slot
    where visit.traces_id = $traces_id and $source = 'visits'
    group by visit.trace, clock.week, clock.number, visit.cell
),

place_of_the_week as (
    select trace, week, number, cell
    from seen_at
    qualify row_number() over (partition by trace, week, number order by weight desc, first_seen, cell) = 1
),

place as (
    select trace, number, cell, count(*) as appear, min(week) as first_week
    from place_of_the_week
    group by trace, number, cell
),

usual_place as (
    select trace, number, cell, appear, sum(appear) over (partition by trace, number) as seen
    from place
    qualify row_number() over (partition by trace, number order by appear desc, first_week, cell) = 1
)

select $schedule_id as schedule_id, trace, number, cell, appear::integer as appear, seen::integer as seen
from usual_place
