-- metrics.habit: which usual places are habits: those of more than $keep of the weeks (ma2017 takes 0.6).
--
-- Slot 0 stands for the whole week of whoever has habits: its cell is the number of the schedule, the same for
-- traces whose habits are all the same.
--
-- grain:   schedule_id, keep, trace, number
-- reads:   slots.schedule, slots.timetable
-- params:  schedule_id, keep
-- shards by: schedule_id
-- columns:
--   schedule_id  VARCHAR  the schedule, see study.schedule
--   keep         DOUBLE   share of the weeks that a habit exceeds
--   trace        INTEGER  the trace, see slots.trace
--   number       INTEGER  slot of the timetable, see slots.timetable; 0 for the whole week
--   cell         UBIGINT  the usual place, see grid.cell; for slot 0 the number of the schedule
--   appear       INTEGER  weeks at the usual place; null for slot 0
--   is_habit     BOOLEAN  whether it is a habit: appear / weeks > keep

with usual as (
    select
        schedule.trace,
        schedule.number,
        schedule.cell,
        schedule.appear,
        schedule.appear > $keep::decimal(9, 6) * slot.weeks as is_habit
    from slots.schedule as schedule
    join slots.timetable as slot on slot.schedule_id = $schedule_id and slot.number = schedule.number
    where schedule.schedule_id = $schedule_id
),

whole_week as (
    select trace, dense_rank() over (order by list_sort(list({'number': number, 'cell': cell}))) as schedule
    from usual
    where is_habit
    group by trace
)

select $schedule_id as schedule_id, $keep::double as keep, trace, number, cell, appear, is_habit
from usual
union all
select
    $schedule_id as schedule_id,
    $keep::double as keep,
    trace,
    0 as number,
    schedule::ubigint as cell,
    null as appear,
    true as is_habit
from whole_week
