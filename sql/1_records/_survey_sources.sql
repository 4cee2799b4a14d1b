-- records._survey_sources: how many rows each source has, and how many call for a closer look.
--
-- reads:   ingest_survey
-- params:  none
-- columns:
--   source_id  INTEGER  the source
--   rows       BIGINT   its rows
--   faults     BIGINT   of these, rows that are refused
--   unusual    BIGINT   of these, rows that call for a closer look

select
    source_id,
    sum(rows)::bigint as rows,
    sum(faults)::bigint as faults,
    sum(unusual)::bigint as unusual
from ingest_survey
group by source_id
order by source_id
