-- records._reference_unreadable_row: the first row of a table of places without an id or with coordinates in words.
--
-- reads:   ingest_written
-- params:  none
-- columns:
--   source_row  BIGINT  the row; no row here where all are sound

select min(source_row) as source_row
from ingest_written
where coalesce(trim(place), '') = ''
    or (trim(lat) <> '' and try_cast(trim(lat) as double) is null)
    or (trim(lng) <> '' and try_cast(trim(lng) as double) is null)
having count(*) > 0
