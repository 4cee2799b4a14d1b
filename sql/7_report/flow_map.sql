-- report.flow_map: flows between zones before and after the largest cells of a trade-off, with what draws a map.
--
-- Movements within a zone are left out. Of steps with cells of the same size the last one counts. See metrics.od_flow.
--
-- grain:   tradeoff_id, zones_name, flows, origin, destination
-- reads:   study.tradeoff_step, study.utility, metrics.od_flow, grid.index, grid.cell
-- shards by: tradeoff_id
-- view:    yes
-- columns:
--   tradeoff_id          VARCHAR  the study, see study.tradeoff
--   zones_name           VARCHAR  the zones, as asked for
--   flows                VARCHAR  raw or constrained, see metrics.movement
--   origin               UBIGINT  zone that people leave, see grid.cell
--   destination          UBIGINT  zone that they go to
--   origin_label         VARCHAR  what people call the origin
--   destination_label    VARCHAR  what people call the destination
--   before               DOUBLE   movements in the release itself
--   after                DOUBLE   movements with the largest cells
--   change               DOUBLE   after - before
--   pairs                BIGINT   pairs of zones with a flow on either side
--   index_name           VARCHAR  index of the largest cells
--   origin_polygon       VARCHAR  outline of the origin in degrees, as well-known text
--   destination_polygon  VARCHAR  outline of the destination
--   origin_lng           DOUBLE   longitude of a point inside the origin
--   origin_lat           DOUBLE   latitude of that point
--   destination_lng      DOUBLE   longitude of a point inside the destination
--   destination_lat      DOUBLE   latitude of that point
--   lon0                 DOUBLE   longitude of the centre of the zones, see grid.index
--   lat0                 DOUBLE   latitude of the centre of the zones

with largest as (
    select
        step.tradeoff_id,
        step.zones_name,
        step.zones_id,
        step.index_name,
        utility.before_id,
        utility.after_id
    from study.tradeoff_step as step
    join study.utility as utility on utility.utility_id = step.utility_id
    qualify row_number() over (
        partition by step.tradeoff_id, step.zones_name
        order by step.size_m desc nulls last, step.step desc, step.zones_id
    ) = 1
),

side as (
    select tradeoff_id, zones_name, before_id as od_id, true as is_before from largest
    union all
    select tradeoff_id, zones_name, after_id as od_id, false as is_before from largest
),

movement as (
    select
        side.tradeoff_id,
        side.zones_name,
        side.is_before,
        od_flow.origin,
        od_flow.destination,
        unnest(['raw', 'constrained']) as flows,
        unnest([od_flow.raw, od_flow.constrained]) as movements
    from side
    join metrics.od_flow as od_flow on od_flow.od_id = side.od_id
    where od_flow.origin <> od_flow.destination
),

pair as (
    select
        tradeoff_id,
        zones_name,
        flows,
        origin,
        destination,
        coalesce(sum(movements) filter (is_before), 0) as before,
        coalesce(sum(movements) filter (not is_before), 0) as after
    from movement
    group by tradeoff_id, zones_name, flows, origin, destination
    having max(movements) > 0
)

select
    pair.tradeoff_id,
    pair.zones_name,
    pair.flows,
    pair.origin,
    pair.destination,
    origin.label as origin_label,
    destination.label as destination_label,
    pair.before,
    pair.after,
    pair.after - pair.before as change,
    count(*) over (partition by pair.tradeoff_id, pair.zones_name, pair.flows) as pairs,
    largest.index_name,
    origin.polygon as origin_polygon,
    destination.polygon as destination_polygon,
    origin.lng as origin_lng,
    origin.lat as origin_lat,
    destination.lng as destination_lng,
    destination.lat as destination_lat,
    index.lon0,
    index.lat0
from pair
join largest on largest.tradeoff_id = pair.tradeoff_id and largest.zones_name = pair.zones_name
join grid.index as index on index.index_id = largest.zones_id
join grid.cell as origin on origin.index_id = largest.zones_id and origin.cell = pair.origin
join grid.cell as destination on destination.index_id = largest.zones_id and destination.cell = pair.destination
