-- metrics.top_place: the places of each trace, the most frequent first.
--
-- Ties go to the place visited first, then to the smaller id.
--
-- grain:   traces_id, trace, rank
-- reads:   slots.visit
-- params:  traces_id
-- shards by: trace
-- columns:
--   traces_id  VARCHAR  the set of traces, see study.traces
--   trace      INTEGER  the trace, see slots.trace
--   rank       INTEGER  1 for the place with most visits
--   cell       UBIGINT  the place, see grid.cell
--   visits     BIGINT   visits of the trace there
--   share      DOUBLE   visits / all visits of the trace

with place as (
    select trace, cell, sum(visits)::bigint as visits, min(slot) as first_slot
    from slots.visit
    where traces_id = $traces_id
    group by trace, cell
)

select
    $traces_id as traces_id,
    trace,
    (row_number() over (partition by trace order by visits desc, first_slot, cell))::integer as rank,
    cell,
    visits,
    visits / (sum(visits) over (partition by trace))::double as share
from place
