-- records._survey_people: how many rows of each person a source has, and how many call for a closer look.
--
-- reads:   ingest_row
-- params:  none
-- columns:
--   source_id  INTEGER  the source
--   uid        ANY      the person as the input says it
--   rows       BIGINT   rows of the source about the person
--   faults     BIGINT   of these, rows that are refused
--   unusual    BIGINT   of these, rows that are refused, without a zone, at 0, 0 or beyond the poles

select
    source_id,
    uid,
    count(*) as rows,
    count(fault) as faults,
    count(*) filter (
        fault is not null or form = 'naive' or (lat = 0 and lng = 0) or abs(lat) > 90
    ) as unusual
from ingest_row
group by source_id, uid
