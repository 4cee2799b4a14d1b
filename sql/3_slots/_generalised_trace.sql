-- slots._generalised_trace: rows of slots.trace for the same traces in larger cells.
--
-- reads:   slots.trace
-- params:  traces_id, source_id
-- columns:
--   traces_id  VARCHAR  the set of traces in larger cells
--   trace      INTEGER  number of the trace
--   person     INTEGER  whose it is
--   part       INTEGER  which part of the person's time it is
--   pseudonym  VARCHAR  the fresh id; null where there is none
--   records    BIGINT   records of the person

select $traces_id as traces_id, trace, person, part, pseudonym, records
from slots.trace
where traces_id = $source_id
