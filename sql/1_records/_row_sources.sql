-- records._row_sources: the rows of a table of several sources, each with its source and its number there.
--
-- Joined by row and not by range: the engine compares every row with every range.
--
-- reads:   ingest_checked, ingest_part
-- params:  none
-- columns: those of ingest_checked, and
--   source_id  INTEGER  the source; null where it is left out

select part.source_id, checked.* replace (part.source_row as source_row)
from ingest_checked as checked
left join ingest_part as part on part.row = checked.source_row
