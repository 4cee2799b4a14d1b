-- metrics.extraction: how well schedules read from records match true timetables (ma2017, table I).
--
-- Over people whose timetable is known (records.lesson) and who are in the release. A lesson belongs to the slot of the timetable
-- that holds its middle. Usual places count where anything is taught to anybody: a
-- usual place in a dormitory is no lesson.
--
-- grain:   leak_id, number
-- reads:   records.lesson, metrics.habit, slots.timetable, slots.trace, grid.cell
-- params:  leak_id, known_schedule_id, known_traces, index_id, keep
-- shards by: none
-- columns:
--   leak_id         VARCHAR  the question, see study.leak
--   number          INTEGER  slot of the timetable, see slots.timetable; 0 for lessons that belong to none
--   lessons         BIGINT   true lessons in the slot
--   usual_places    BIGINT   usual places in the slot where anything is taught
--   matched         BIGINT   those that are the true place
--   habits          BIGINT   habits in the slot where anything is taught
--   habits_matched  BIGINT   those that are the true place

with taught as (
    select trace.trace, lesson.weekday, (lesson.begin_minute + lesson.end_minute) / 2.0 as middle, cell.cell
    from records.lesson as lesson
    join slots.trace as trace on trace.traces_id = $known_traces and trace.person = lesson.person
    join grid.cell as cell on cell.index_id = $index_id and cell.label = lesson.place
),

slot as (
    select
        number,
        weekday,
        split_part(begins, ':', 1)::integer * 60 + split_part(begins, ':', 2)::integer as begins,
        split_part(ends, ':', 1)::integer * 60 + split_part(ends, ':', 2)::integer as ends
    from slots.timetable
    where schedule_id = $known_schedule_id
),

truth as (
    select taught.trace, coalesce(slot.number, 0) as number, taught.cell
    from taught
    left join slot
        on slot.weekday = taught.weekday and taught.middle >= slot.begins and taught.middle < slot.ends
),

usual as (
    select habit.trace, habit.number, habit.cell, habit.is_habit
    from metrics.habit as habit
    where
        habit.schedule_id = $known_schedule_id
        and habit.keep = $keep
        and habit.number > 0
        and habit.trace in (select trace from taught)
        and habit.cell in (select cell from taught)
),

compared as (
    select
        usual.number,
        usual.is_habit,
        case when count(truth.cell) > 0 then 1 else 0 end as matched
    from usual
    left join truth on truth.trace = usual.trace and truth.number = usual.number and truth.cell = usual.cell
    group by usual.trace, usual.number, usual.is_habit
),

found as (
    select
        number,
        count(*) as usual_places,
        sum(matched)::bigint as matched,
        sum(case when is_habit then 1 else 0 end)::bigint as habits,
        sum(case when is_habit then matched else 0 end)::bigint as habits_matched
    from compared
    group by number
),

lessons as (
    select number, count(*) as lessons
    from truth
    group by number
)

select
    $leak_id as leak_id,
    slot.number,
    coalesce(lessons.lessons, 0) as lessons,
    coalesce(found.usual_places, 0) as usual_places,
    coalesce(found.matched, 0) as matched,
    coalesce(found.habits, 0) as habits,
    coalesce(found.habits_matched, 0) as habits_matched
from (select number from slot union all select 0 as number) as slot
left join lessons on lessons.number = slot.number
left join found on found.number = slot.number
