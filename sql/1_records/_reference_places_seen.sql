-- records._reference_places_seen: places that records name and the lab does not know, at the mean of their records.
--
-- Sums of whole ten-millionths of a degree: the same whatever the order in which the engine
-- adds. Longitudes on both sides of the antimeridian are counted eastwards from 0, and the mean
-- is brought back below 180.
--
-- reads:   records.fix, records.place
-- params:  first_source
-- columns: as in records.place
--   place   VARCHAR  name of the place, in records of $first_source and later
--   lat     DOUBLE   latitude; null where no record has one
--   lng     DOUBLE   longitude; null where no record has one
--   parent  VARCHAR  null

with newly_named as (
    select place, round(lat * 1e7)::bigint as north, round(lng * 1e7)::bigint as east
    from records.fix
    where source_id >= $first_source and place is not null
        and place not in (select place from records.place)
),

mean as (
    select
        place,
        sum(north) / nullif(count(north), 0) / 1e7 as lat,
        case
            when max(east) - min(east) <= 1800000000 then sum(east) / nullif(count(east), 0) / 1e7
            else sum(case when east < 0 then east + 3600000000 else east end) / nullif(count(east), 0) / 1e7
        end as lng
    from newly_named
    group by place
)

select place, lat, case when lng > 180 then lng - 360 else lng end as lng, null::varchar as parent
from mean
order by place
