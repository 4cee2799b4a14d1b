-- metrics.leak_by_slot: which slots of the week give people away.
--
-- grain:   leak_id, min_k, number
-- reads:   metrics.person_leak, metrics.crowd, metrics.crowd_slot, metrics.habit, slots.timetable
-- params:  leak_id, known_schedule_id, asked_k, keep
-- shards by: leak_id
-- columns:
--   leak_id    VARCHAR  the question, see study.leak
--   min_k      INTEGER  least size of a set, see metrics.leak
--   number     INTEGER  slot of the timetable, see slots.timetable
--   people     BIGINT   people in sets of that size
--   habits     BIGINT   those with a habit in the slot
--   sensitive  BIGINT   those for whom it is sensitive, see metrics.person_leak
--   chance     DOUBLE   mean over people of the chance of the set in the slot, see metrics.crowd_slot

with size as (
    select unnest([2, 4, 8, 16, 32, 64]) as min_k
    union
    select $asked_k as min_k
),

measured as (
    select size.min_k, person.trace, crowd.crowd
    from metrics.person_leak as person
    join metrics.crowd as crowd on crowd.leak_id = $leak_id and crowd.trace = person.trace
    join size on person.k >= size.min_k
    where person.leak_id = $leak_id
),

slot as (
    select number
    from slots.timetable
    where schedule_id = $known_schedule_id
),

habit as (
    select trace, number, cell
    from metrics.habit
    where schedule_id = $known_schedule_id and keep = $keep and is_habit and number > 0
)

select
    $leak_id as leak_id,
    measured.min_k,
    slot.number,
    count(*) as people,
    count(habit.cell) as habits,
    sum(case when common.common_cell = habit.cell then 1 else 0 end)::bigint as sensitive,
    sum(coalesce(common.chance, 0)::decimal(18, 15))::double / count(*) as chance
from measured
cross join slot
left join metrics.crowd_slot as common
    on common.leak_id = $leak_id and common.crowd = measured.crowd and common.number = slot.number
left join habit on habit.trace = measured.trace and habit.number = slot.number
group by measured.min_k, slot.number
