-- slots._generalised_visit: rows of slots.visit for the same traces in larger cells, see grid.generalised.
--
-- reads:   slots.visit, grid.generalised
-- params:  traces_id, source_id, index_id, coarse_id
-- columns:
--   traces_id  VARCHAR  the set of traces in larger cells
--   trace      INTEGER  the trace
--   slot       INTEGER  slot of the release
--   cell       UBIGINT  the larger cell
--   visits     BIGINT   how many visits

select
    $traces_id as traces_id,
    visit.trace,
    visit.slot,
    larger.coarse as cell,
    sum(visit.visits)::bigint as visits
from slots.visit as visit
join grid.generalised as larger
    on larger.index_id = $index_id and larger.coarse_id = $coarse_id and larger.cell = visit.cell
where visit.traces_id = $source_id
group by visit.trace, visit.slot, larger.coarse
