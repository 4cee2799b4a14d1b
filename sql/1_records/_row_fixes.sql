-- records._row_fixes: the rows that become fixes.
--
-- reads:   ingest_row, ingest_person
-- params:  none
-- columns: as in records.fix
--   source_id   INTEGER      the source
--   source_row  BIGINT       row of the source, from 1
--   person      INTEGER      the person
--   ts          TIMESTAMPTZ  the moment
--   lat         DOUBLE       latitude in degrees
--   lng         DOUBLE       longitude in degrees
--   place       VARCHAR      station or place

select source_id, source_row, person, ts, lat, lng, place
from ingest_row
join ingest_person using (uid)
where fault is null and person is not null
