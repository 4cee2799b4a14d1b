-- slots._weeks_held: in how many weeks that count each slot of a timetable was held.
--
-- Before slots.week is built every week counts.
--
-- reads:   slots.week_clock, slots.week
-- params:  schedule_id
-- columns:
--   number  INTEGER  slot of the timetable, from 1
--   weeks   BIGINT   weeks in which it was held

select clock.number, count(distinct clock.week) as weeks
from slots.week_clock as clock
left join slots.week as week on week.schedule_id = clock.clock_id and week.week = clock.week
where clock.clock_id = $schedule_id and coalesce(week.counted, true)
group by clock.number
