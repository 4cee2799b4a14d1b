-- records._reference_torn_row: the first row of a table that is at fault as a line, and how many there are.
--
-- reads:   ingest_written
-- params:  none
-- columns:
--   source_row  BIGINT   the first row at fault
--   fault       VARCHAR  what is wrong with it
--   rows        BIGINT   rows at fault

select source_row, fault, count(*) over () as rows
from ingest_written
where fault is not null
order by source_row
limit 1
