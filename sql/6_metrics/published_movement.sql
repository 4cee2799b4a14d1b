-- metrics.published_movement: movements between cells as a release publishes them, slot by slot, summed over the period.
--
-- People who are in another cell in the next slot (counts.flow), as far as a row says so: what is left out of a slot is
-- lost, however many go the same way over the period. With noise, a pair of cells whose sum is not
-- above 0 has no row. What lies between two records is not published, so nothing here is constrained.
--
-- grain:   flows_id, origin, destination
-- reads:   counts.flow
-- params:  flows_id, published_id
-- shards by: release_id
-- columns:
--   flows_id     VARCHAR  the release that is published, see study.od
--   origin       UBIGINT  cell that they leave, see grid.cell
--   destination  UBIGINT  cell that they are in next
--   raw          DOUBLE   movements
--   constrained  DOUBLE   0: a table has no times between records

select
    $flows_id as flows_id,
    origin,
    destination,
    sum(people)::double as raw,
    0::double as constrained
from counts.flow
where release_id = $published_id and origin <> destination
group by origin, destination
having sum(people) > 0
