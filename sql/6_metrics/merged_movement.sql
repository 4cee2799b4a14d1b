-- metrics.merged_movement: the same movements between the cells that a generalisation publishes.
--
-- Both ends of every movement become the larger cells that they fall in (yin2015, eq. 3). A movement
-- within one larger cell is kept, from the cell to itself, so that none is lost. Where the
-- generalised release leaves out counts below $min_count, so does this table, as is published: slot by
-- slot, whatever fewer than $min_count people do in it (metrics.slot_movement); the rest is summed.
--
-- grain:   flows_id, origin, destination
-- reads:   metrics.movement, metrics.slot_movement, grid.generalised
-- params:  flows_id, source_id, index_id, coarse_id, min_count
-- shards by: flows_id
-- columns:
--   flows_id     VARCHAR  the movements and the cells that they are merged into, see study.od
--   origin       UBIGINT  larger cell that they leave, see grid.cell
--   destination  UBIGINT  larger cell that they are seen in next
--   raw          DOUBLE   movements
--   constrained  DOUBLE   movements within the bounds of time

with everything as (
    select
        leaving.coarse as origin,
        arriving.coarse as destination,
        sum(movement.raw) as raw,
        sum(movement.constrained) as constrained
    from metrics.movement as movement
    join grid.generalised as leaving
        on leaving.index_id = $index_id and leaving.coarse_id = $coarse_id and leaving.cell = movement.origin
    join grid.generalised as arriving
        on arriving.index_id = $index_id and arriving.coarse_id = $coarse_id and arriving.cell = movement.destination
    where movement.flows_id = $source_id and $min_count <= 1
    group by leaving.coarse, arriving.coarse
),

enough_in_their_slot as (
    select
        origin,
        destination,
        sum(raw) as raw,
        sum(case when constrained_people >= $min_count then constrained else 0 end) as constrained
    from metrics.slot_movement
    where flows_id = $flows_id and people >= $min_count and $min_count > 1
    group by origin, destination
)

select $flows_id as flows_id, origin, destination, raw, constrained
from everything
union all
select $flows_id as flows_id, origin, destination, raw, constrained
from enough_in_their_slot
