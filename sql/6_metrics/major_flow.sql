-- metrics.major_flow: the flows between zones that matter most, by three definitions (yin2015).
--
-- pareto: the largest flows that together make up $pareto of everything; flows as large as the last of them,
-- to a millionth, belong to it too. backbone: flows that stand out among those of their origin or of their destination by the
-- disparity filter, (1 - w/s)^(k - 1) < $alpha, where w is the flow and s the sum of the k flows that leave the
-- origin or reach the destination (Serrano et al. 2009). hotspot: flows from or to a hotspot (metrics.od_zone). A flow
-- within a zone is one of its flows. Flows that are major by no definition have no row.
--
-- grain:   od_id, flows, origin, destination
-- reads:   metrics.od_flow, metrics.od_zone
-- params:  od_id, pareto, alpha
-- shards by: od_id
-- columns:
--   od_id        VARCHAR  the matrix, see study.od
--   flows        VARCHAR  raw or constrained, see metrics.movement
--   origin       UBIGINT  zone that they leave, see grid.cell
--   destination  UBIGINT  zone that they go to
--   flow         DOUBLE   movements
--   pareto       BOOLEAN  among the largest flows
--   backbone     BOOLEAN  stands out at one of its ends
--   hotspot      BOOLEAN  begins or ends in a hotspot

with flow as (
    select 'raw' as flows, origin, destination, raw as flow, round(1e6 * ln(raw))::bigint as size
    from metrics.od_flow
    where od_id = $od_id and raw > 0
    union all
    select
        'constrained' as flows,
        origin,
        destination,
        constrained as flow,
        round(1e6 * ln(constrained))::bigint as size
    from metrics.od_flow
    where od_id = $od_id and constrained > 0
),

-- Sums of decimals do not depend on the order in which threads add them up.
weighed as (
    select
        flows,
        origin,
        destination,
        flow,
        sum(flow::decimal(38, 12)) over (partition by flows) as everything,
        sum(flow::decimal(38, 12)) over (partition by flows order by size desc) as upto,
        sum(flow::decimal(38, 12)) over (partition by flows, size) as as_large,
        sum(flow::decimal(38, 12)) over (partition by flows, origin) as leaving,
        count(*) over (partition by flows, origin) as destinations,
        sum(flow::decimal(38, 12)) over (partition by flows, destination) as arriving,
        count(*) over (partition by flows, destination) as origins
    from flow
),

judged as (
    select
        weighed.flows,
        weighed.origin,
        weighed.destination,
        weighed.flow,
        (weighed.upto - weighed.as_large)::double < $pareto * weighed.everything::double as pareto,
        pow(greatest(1 - weighed.flow / weighed.leaving::double, 0), weighed.destinations - 1) < $alpha
            or pow(greatest(1 - weighed.flow / weighed.arriving::double, 0), weighed.origins - 1) < $alpha as backbone,
        coalesce(leaves.hotspot, false) or coalesce(reaches.hotspot, false) as hotspot
    from weighed
    left join metrics.od_zone as leaves on leaves.od_id = $od_id and leaves.zone = weighed.origin
    left join metrics.od_zone as reaches on reaches.od_id = $od_id and reaches.zone = weighed.destination
)

select $od_id as od_id, flows, origin, destination, flow, pareto, backbone, hotspot
from judged
where pareto or backbone or hotspot
