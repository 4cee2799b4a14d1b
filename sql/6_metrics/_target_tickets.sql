-- metrics._target_tickets: the lottery tickets of those who may be looked for, as in metrics.target.
--
-- reads:   player, slots.trace, records.person
-- params:  seed, known_id
-- columns:
--   ticket  VARCHAR  md5 of the seed, the id of the person and the part, and the trace

select md5($seed || ':' || person.uid || ':' || trace.part) || lpad(trace.trace::varchar, 10, '0') as ticket
from player
join slots.trace as trace on trace.traces_id = $known_id and trace.trace = player.trace
join records.person as person on person.person = trace.person
