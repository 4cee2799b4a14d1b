-- records._reject_around_zero: how many fixes lie exactly at 0, 0, and how many of the others within a degree of it.
--
-- reads:   records.fix
-- params:  first_source
-- columns:
--   at_zero  BIGINT  fixes of $first_source and later exactly at 0, 0
--   near     BIGINT  other fixes within a degree
--   others   BIGINT  other fixes with coordinates

select
    count(*) filter (lat = 0 and lng = 0 and source_id >= $first_source) as at_zero,
    count(*) filter (abs(lat) <= 1 and abs(lng) <= 1 and not (lat = 0 and lng = 0)) as near,
    count(lat) filter (not (lat = 0 and lng = 0)) as others
from records.fix
