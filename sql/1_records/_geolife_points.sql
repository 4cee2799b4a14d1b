-- records._geolife_points: the points of GeoLife's files, as they are written.
--
-- reads:   ingest_plt
-- params:  none
-- columns:
--   source_row  BIGINT   row of the folder, through all files in the order of their paths
--   fault       VARCHAR  what is wrong with the line; null where nothing is
--   uid         VARCHAR  the user: the folder above Trajectory
--   ts          VARCHAR  date and time in GMT
--   lat         VARCHAR  latitude
--   lng         VARCHAR  longitude

select
    row_number() over () as source_row,
    case when beyond is not null then 'too many fields' end as fault,
    plt_user(filename) as uid,
    nullif(concat_ws('T', trim(day), trim(clock)), '') || 'Z' as ts,
    lat,
    lng
from ingest_plt
