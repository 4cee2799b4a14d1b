-- metrics.od_flow: how much flows from one zone to another: a sparse origin-destination matrix.
--
-- A movement between two cells is shared out among the zones that the cells overlap, at both ends, in
-- proportion to area (yin2015, eq. 2; for merged cells eq. 4). Shares are whole billionths that add up to
-- one for every cell (grid.overlap), so that no flow is lost or made, to the last movement. Pairs of zones
-- without flow have no row.
--
-- grain:   od_id, origin, destination
-- reads:   metrics.movement, metrics.merged_movement, metrics.published_movement, grid.overlap
-- params:  od_id, flows_id, index_id, zones_id
-- shards by: flows_id
-- columns:
--   od_id        VARCHAR  the matrix, see study.od
--   origin       UBIGINT  zone that they leave, see grid.cell
--   destination  UBIGINT  zone that they go to; the origin itself where they stay within it
--   raw          DOUBLE   movements
--   constrained  DOUBLE   movements within the bounds of time

with between_cells as (
    select origin, destination, raw::bigint as raw, constrained::bigint as constrained
    from metrics.movement
    where flows_id = $flows_id
    union all
    select origin, destination, raw::bigint as raw, constrained::bigint as constrained
    from metrics.merged_movement
    where flows_id = $flows_id
    union all
    select origin, destination, raw::bigint as raw, constrained::bigint as constrained
    from metrics.published_movement
    where flows_id = $flows_id
),

share as (
    select cell, zone, billionths
    from grid.overlap
    where index_id = $index_id and zones_id = $zones_id
),

from_zones as (
    select
        share.zone as origin,
        between_cells.destination,
        sum(between_cells.raw * share.billionths) as raw,
        sum(between_cells.constrained * share.billionths) as constrained
    from between_cells
    join share on share.cell = between_cells.origin
    group by share.zone, between_cells.destination
),

between_zones as (
    select
        from_zones.origin,
        share.zone as destination,
        sum(from_zones.raw * share.billionths) as raw,
        sum(from_zones.constrained * share.billionths) as constrained
    from from_zones
    join share on share.cell = from_zones.destination
    group by from_zones.origin, share.zone
)

select
    $od_id as od_id,
    origin,
    destination,
    raw::double / 1e18 as raw,
    constrained::double / 1e18 as constrained
from between_zones
