-- records._multimno_events: the events of one day of multimno, under the names that ingest reads.
--
-- An event with coordinates of its own lies there, whatever cell served it.
--
-- reads:   ingest_event
-- params:  none
-- columns:
--   source_row  BIGINT   row of the day, through all its files in the order of their paths
--   fault       VARCHAR  always null
--   uid         VARCHAR  the person: the digits of the binary id; null where there is none
--   ts          ANY      the moment, as the files have it
--   station     VARCHAR  the cell; null where the event has coordinates of its own
--   lat         DOUBLE   latitude of the event itself, mostly null
--   lng         DOUBLE   longitude of the event itself, mostly null

select
    row_number() over () as source_row,
    null::varchar as fault,
    nullif(lower(hex(user_id)), '') as uid,
    "timestamp" as ts,
    case when latitude is null and longitude is null then cell_id end as station,
    latitude::double as lat,
    longitude::double as lng
from ingest_event
