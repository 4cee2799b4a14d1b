-- records._row_calls: what the rows that become fixes say of calls.
--
-- reads:   ingest_row, ingest_person
-- params:  none
-- columns: as in records.call
--   source_id   INTEGER  the source
--   source_row  BIGINT   row of the source, from 1
--   direction   VARCHAR  call initiated or received
--   region      VARCHAR  regional code of the record

select source_id, source_row, direction, region
from ingest_row
join ingest_person using (uid)
where fault is null and person is not null and (direction is not null or region is not null)
order by source_id, source_row
