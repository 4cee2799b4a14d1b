-- records._row_faults: every row with typed columns and the first thing that is wrong with it.
--
-- In the order: the line itself, time, place, latitude, longitude. Who the row is about is
-- checked later, once per person. The first branch is all that a sound row costs.
--
-- reads:   ingest_located
-- params:  coordinates_needed
-- columns:
--   source_row  BIGINT       row of the source, from 1
--   uid         ANY          the person as the input says it
--   ts          TIMESTAMPTZ  the moment
--   lat         DOUBLE       latitude in degrees
--   lng         DOUBLE       longitude in degrees
--   place       VARCHAR      station or place
--   direction   VARCHAR      direction of a call
--   region      VARCHAR      region of a record
--   form        VARCHAR      zone, naive, number or other: how the time is written
--   repeated    BOOLEAN      whether the clock showed the local time twice
--   fault       VARCHAR      the reason of a rejection; null for a fix

select
    source_row, uid, ts, lat, lng, place, direction, region, form, repeated,
    case
        when fault is null and time_fault is null and place_fault is null
            and coalesce(lat between -90 and 90 and lng between -180 and 180, false) then null
        when fault is not null then fault
        when time_fault is not null then time_fault
        when place_fault is not null then place_fault
        when not $coordinates_needed
            and not coalesce(lat_given, false) and not coalesce(lng_given, false) then null
        when not coalesce(lat_given, false) then 'latitude missing'
        when lat is null or isnan(lat) then 'latitude not a number'
        when isinf(lat) then 'latitude infinite'
        when lat not between -90 and 90 then 'latitude outside -90..90'
        when not coalesce(lng_given, false) then 'longitude missing'
        when lng is null or isnan(lng) then 'longitude not a number'
        when isinf(lng) then 'longitude infinite'
        else 'longitude outside -180..180'
    end as fault
from ingest_located
