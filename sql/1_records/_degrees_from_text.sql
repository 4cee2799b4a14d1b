-- records._degrees_from_text: coordinates as doubles, where the columns hold text; names without outer spaces.
--
-- reads:   ingest_timed
-- params:  none
-- columns: those of ingest_timed but lat, lng, place, direction and region, and
--   lat        DOUBLE   latitude; null where it is no number
--   lat_given  BOOLEAN  whether anything is written there
--   lng        DOUBLE   longitude; null where it is no number
--   lng_given  BOOLEAN  whether anything is written there
--   place      VARCHAR  station or place; null where empty
--   direction  VARCHAR  direction of a call; null where empty
--   region     VARCHAR  region of a record; null where empty

select
    * exclude (lat, lng, place, direction, region),
    try_cast(written.lat as double) as lat,
    case when try_cast(written.lat as double) is null then trim(written.lat) <> '' else true end as lat_given,
    try_cast(written.lng as double) as lng,
    case when try_cast(written.lng as double) is null then trim(written.lng) <> '' else true end as lng_given,
    nullif(trim(place), '') as place,
    nullif(trim(direction), '') as direction,
    nullif(trim(region), '') as region
from ingest_timed as written
