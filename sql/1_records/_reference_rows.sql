-- records._reference_rows: the rows of a table of places, typed.
--
-- reads:   ingest_written
-- params:  none
-- columns:
--   place   VARCHAR  id of the station or place
--   lat     DOUBLE   latitude; null where empty
--   lng     DOUBLE   longitude; null where empty
--   parent  VARCHAR  the larger place it belongs to; null where empty

select
    trim(place) as place,
    try_cast(trim(lat) as double) as lat,
    try_cast(trim(lng) as double) as lng,
    nullif(trim(parent), '') as parent
from ingest_written
