-- metrics.od_zone: how many people are seen in each zone, and whether it is a hotspot.
--
-- People of a cell (metrics.presence) are shared out among the zones it overlaps in proportion to area.
-- Hotspots are the zones above the percentile 1 - mean / max, where the tangent to the Lorenz curve at its
-- end meets the axis (Louail et al. 2014). All $zones zones count, those without anybody included.
-- Zones with as many people, to a millionth, are hotspots together or not at all.
--
-- grain:   od_id, zone
-- reads:   metrics.presence, grid.overlap
-- params:  od_id, flows_id, index_id, zones_id, zones
-- shards by: flows_id
-- columns:
--   od_id         VARCHAR  the matrix, see study.od
--   zone          UBIGINT  the zone, see grid.cell
--   person_hours  DOUBLE   distinct people of each hour, summed over the hours
--   percentile    DOUBLE   share of the zones that have no more
--   hotspot       BOOLEAN  whether the percentile is above that of the Lorenz curve

with populated as (
    select overlap.zone, sum(presence.person_hours::bigint * overlap.billionths) as billionths
    from metrics.presence as presence
    join grid.overlap as overlap
        on overlap.index_id = $index_id and overlap.zones_id = $zones_id and overlap.cell = presence.cell
    where presence.flows_id = $flows_id
    group by overlap.zone
),

lorenz as (
    select 1 - sum(billionths)::double / $zones / max(billionths)::double as threshold, count(*) as populated
    from populated
),

ranked as (
    select zone, billionths, count(*) over (order by round(1e6 * ln(billionths))) as upto
    from populated
)

select
    $od_id as od_id,
    ranked.zone,
    ranked.billionths::double / 1e9 as person_hours,
    ($zones - lorenz.populated + ranked.upto) / $zones::double as percentile,
    ($zones - lorenz.populated + ranked.upto) / $zones::double > lorenz.threshold as hotspot
from ranked
cross join lorenz
