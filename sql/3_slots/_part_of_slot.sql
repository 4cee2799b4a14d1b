-- slots._part_of_slot: the first and the last part that visits of a slot belong to, in protected traces.
--
-- reads:   slots.visit, slots.trace
-- params:  traces_id
-- columns:
--   slot       INTEGER  slot of the release
--   part       INTEGER  the first part of anybody
--   last_part  INTEGER  the last part of anybody

select visit.slot, min(trace.part) as part, max(trace.part) as last_part
from slots.visit as visit
join slots.trace as trace on trace.traces_id = $traces_id and trace.trace = visit.trace
where visit.traces_id = $traces_id
group by visit.slot
