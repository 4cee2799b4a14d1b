-- slots._protected_visit: rows of slots.visit for the parts that a protection made.
--
-- reads:   protected_visit, slots.trace
-- params:  traces_id
-- columns:
--   traces_id  VARCHAR  the set of traces
--   trace      INTEGER  the trace
--   slot       INTEGER  slot of the release
--   cell       UBIGINT  the cell
--   visits     BIGINT   how many visits

select $traces_id as traces_id, trace.trace, visit.slot, visit.cell, visit.visits::bigint as visits
from protected_visit as visit
join slots.trace as trace
    on trace.traces_id = $traces_id and trace.person = visit.person and trace.part = visit.part
