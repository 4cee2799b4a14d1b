-- grid._tiles: people and records in each tile of the globe, 1 / $per_degree of a degree wide.
--
-- reads:   records.fix
-- params:  per_degree
-- columns:
--   x        INTEGER  tiles east of the meridian of Greenwich
--   y        INTEGER  tiles north of the equator
--   people   BIGINT   people with a record there
--   records  BIGINT   their records there

with visitor as (
    select
        floor(lng * $per_degree)::integer as x,
        floor(lat * $per_degree)::integer as y,
        person,
        count(*) as records
    from records.fix
    where lat is not null
    group by x, y, person
)

select x, y, count(*) as people, sum(records)::bigint as records
from visitor
group by x, y
