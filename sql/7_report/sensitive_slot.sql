-- report.sensitive_slot: which slots of the week give people away, by name.
--
-- A slot is sensitive for a person whose habit in it is the crowd's. The share is of everybody in crowds of min_k or
-- more, those without a habit in the slot included. See metrics.leak_by_slot.
--
-- grain:   leak_id, min_k, number
-- reads:   metrics.leak_by_slot, study.leak, slots.timetable
-- shards by: risk_id
-- view:    yes
-- columns:
--   leak_id    VARCHAR  the question, see study.leak
--   min_k      INTEGER  least size of a crowd
--   number     INTEGER  slot of the timetable, see slots.timetable
--   slot_name  VARCHAR  weekday and beginning, such as Mon 08:00
--   people     BIGINT   people in crowds of that size
--   habits     BIGINT   those with a habit in the slot
--   sensitive  BIGINT   those for whom it is sensitive
--   share      DOUBLE   sensitive / people
--   chance     DOUBLE   mean over people of the chance of the crowd in the slot, see metrics.crowd_slot

select
    score.leak_id,
    score.min_k,
    score.number,
    slot.name as slot_name,
    score.people,
    score.habits,
    score.sensitive,
    score.sensitive / score.people::double as share,
    score.chance
from metrics.leak_by_slot as score
join study.leak as leak on leak.leak_id = score.leak_id
join slots.timetable as slot on slot.schedule_id = leak.known_schedule_id and slot.number = score.number
