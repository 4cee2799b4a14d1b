-- records._degrees_from_numbers: coordinates as doubles, where the columns hold numbers; names without outer spaces.
--
-- reads:   ingest_timed
-- params:  none
-- columns: those of ingest_timed but lat, lng, place, direction and region, and
--   lat        DOUBLE   latitude
--   lat_given  BOOLEAN  whether anything is written there
--   lng        DOUBLE   longitude
--   lng_given  BOOLEAN  whether anything is written there
--   place      VARCHAR  station or place; null where empty
--   direction  VARCHAR  direction of a call; null where empty
--   region     VARCHAR  region of a record; null where empty

select
    * exclude (lat, lng, place, direction, region),
    lat::double as lat,
    lat is not null as lat_given,
    lng::double as lng,
    lng is not null as lng_given,
    nullif(trim(place), '') as place,
    nullif(trim(direction), '') as direction,
    nullif(trim(region), '') as region
from ingest_timed
