-- records._prepare_porto_lines: the lines of Porto's download, without their polylines.
--
-- reads:   download_line
-- params:  none
-- columns:
--   source_row  BIGINT   row of the download
--   taxi        VARCHAR  the taxi
--   ts          BIGINT   begin of the trip, in seconds since 1970
--   whole       BOOLEAN  whether the trip has all its points

select
    source_row,
    trim(taxi_id) as taxi,
    try_cast(trim("timestamp") as bigint) as ts,
    fault is null and lower(trim(missing_data)) <> 'true' and length(trim(polyline)) > 2 as whole
from download_line
