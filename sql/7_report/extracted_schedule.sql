-- report.extracted_schedule: schedules read from records beside true timetables, slot by slot.
--
-- Over people whose timetable is known. See metrics.extraction.
--
-- grain:   leak_id, number
-- reads:   metrics.extraction, study.leak, slots.timetable
-- shards by: risk_id
-- view:    yes
-- columns:
--   leak_id         VARCHAR  the question, see study.leak
--   number          INTEGER  slot of the timetable; 0 for lessons that belong to none
--   slot_name       VARCHAR  weekday and beginning, such as Mon 08:00; in no slot
--   lessons         BIGINT   true lessons in the slot
--   usual_places    BIGINT   usual places in the slot where anything is taught
--   matched         BIGINT   those that are the true place
--   habits          BIGINT   habits in the slot where anything is taught
--   habits_matched  BIGINT   those that are the true place

select
    score.leak_id,
    score.number,
    coalesce(slot.name, 'in no slot') as slot_name,
    score.lessons,
    score.usual_places,
    score.matched,
    score.habits,
    score.habits_matched
from metrics.extraction as score
join study.leak as leak on leak.leak_id = score.leak_id
left join slots.timetable as slot on slot.schedule_id = leak.known_schedule_id and slot.number = score.number
