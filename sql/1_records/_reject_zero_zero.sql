-- records._reject_zero_zero: the fixes exactly at 0, 0, as rows of records.rejected.
--
-- reads:   records.fix
-- params:  first_source, reason
-- columns: as in records.rejected
--   source_id   INTEGER  the source, $first_source or later
--   source_row  BIGINT   row of the source
--   reason      VARCHAR  $reason

select source_id, source_row, $reason as reason
from records.fix
where lat = 0 and lng = 0 and source_id >= $first_source
order by source_id, source_row
