-- records._reference_off_the_map: places whose coordinates are not on the globe, or missing where they are $needed.
--
-- reads:   ingest_reference
-- params:  needed
-- columns:
--   place  VARCHAR  id of the station or place

select distinct place
from ingest_reference
where case
    when lat is null and lng is null then $needed
    else not coalesce(lat between -90 and 90 and lng between -180 and 180, false)
end
order by place
