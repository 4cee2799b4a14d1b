-- metrics._od_total: the movements of a matrix, summed exactly, so that the order of rows does not matter.
--
-- reads:   metrics.od_flow
-- params:  od_id
-- columns:
--   raw          DOUBLE  movements
--   constrained  DOUBLE  movements within the bounds of time

select
    coalesce(sum(raw::decimal(38, 12)), 0)::double as raw,
    coalesce(sum(constrained::decimal(38, 12)), 0)::double as constrained
from metrics.od_flow
where od_id = $od_id
