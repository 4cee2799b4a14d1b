-- records._reference_conflicts: places that a table has twice, in different words.
--
-- reads:   ingest_reference
-- params:  none
-- columns:
--   place  VARCHAR  id of the station or place

select place
from (select distinct place, lat, lng, parent from ingest_reference)
group by place
having count(*) > 1
order by place
