-- report.exposed_slots: which slots of the week give people away, for the size of crowd that was asked for.
--
-- grain:   leak_id, number
-- reads:   slots.timetable, metrics.leak_by_slot, study.leak
-- view:    yes
-- columns:
--   leak_id    VARCHAR  the leak, see study.leak
--   points     INTEGER  points known
--   number     INTEGER  the slot of the timetable, see slots.timetable
--   name       VARCHAR  its weekday and hour
--   people     BIGINT   people in such a crowd
--   habits     BIGINT   of these, with a habit then
--   sensitive  BIGINT   of these, whose habit can be guessed
--   chance     DOUBLE   mean chance to meet a member at the likeliest place

select
    score.leak_id,
    leak.points,
    score.number,
    slot.name,
    score.people,
    score.habits,
    score.sensitive,
    score.chance
from metrics.leak_by_slot as score
join study.leak as leak using (leak_id, min_k)
join slots.timetable as slot on slot.schedule_id = leak.known_id and slot.number = score.number
