-- metrics.utility: what a generalisation does to flows between zones: ten measures, raw and constrained.
--
-- The loss is the sum of |before - after| over pairs of zones, by the sum before (yin2015, eq. 1): 0 when
-- nothing changes, 2 when every movement is somewhere else. all: every pair. pareto, backbone and
-- hotspot: the pairs that are major before (metrics.major_flow). commuters: 1 - the common part of commuters,
-- 2 sum min(before, after) / (sum before + sum after), over every pair. The common part stands beside
-- each of the others too. Without a pair there is no loss.
--
-- grain:   utility_id, flows, measure
-- reads:   metrics.od_flow, metrics.major_flow
-- params:  utility_id, before_id, after_id
-- shards by: none
-- columns:
--   utility_id   VARCHAR  the comparison, see study.utility
--   flows        VARCHAR  raw or constrained, see metrics.movement
--   measure      VARCHAR  all, pareto, backbone, hotspot or commuters
--   pairs        BIGINT   pairs of zones that count
--   before       DOUBLE   movements of these pairs before
--   after        DOUBLE   movements of these pairs after
--   difference   DOUBLE   sum of |before - after|
--   loss         DOUBLE   difference / before; for commuters 1 - common_part
--   common_part  DOUBLE   common part of commuters of these pairs, 1 when nothing changes

with pair as (
    select
        coalesce(original.origin, generalised.origin) as origin,
        coalesce(original.destination, generalised.destination) as destination,
        coalesce(original.raw, 0) as raw_before,
        coalesce(generalised.raw, 0) as raw_after,
        coalesce(original.constrained, 0) as constrained_before,
        coalesce(generalised.constrained, 0) as constrained_after
    from (select * from metrics.od_flow where od_id = $before_id) as original
    full join (select * from metrics.od_flow where od_id = $after_id) as generalised
        on generalised.origin = original.origin and generalised.destination = original.destination
),

compared as (
    select 'raw' as flows, origin, destination, raw_before as before, raw_after as after
    from pair
    where raw_before > 0 or raw_after > 0
    union all
    select
        'constrained' as flows,
        origin,
        destination,
        constrained_before as before,
        constrained_after as after
    from pair
    where constrained_before > 0 or constrained_after > 0
),

major as (
    select
        compared.flows,
        compared.before,
        compared.after,
        coalesce(major_flow.pareto, false) as pareto,
        coalesce(major_flow.backbone, false) as backbone,
        coalesce(major_flow.hotspot, false) as hotspot
    from compared
    left join metrics.major_flow as major_flow
        on major_flow.od_id = $before_id
        and major_flow.flows = compared.flows
        and major_flow.origin = compared.origin
        and major_flow.destination = compared.destination
),

measured as (
    select flows, 'all' as measure, before, after
    from major
    union all
    select flows, 'commuters' as measure, before, after
    from major
    union all
    select flows, 'pareto' as measure, before, after
    from major
    where pareto
    union all
    select flows, 'backbone' as measure, before, after
    from major
    where backbone
    union all
    select flows, 'hotspot' as measure, before, after
    from major
    where hotspot
),

-- Sums of decimals do not depend on the order in which threads add them up.
summed as (
    select
        flows,
        measure,
        count(*) as pairs,
        sum(before::decimal(38, 12))::double as before,
        sum(after::decimal(38, 12))::double as after,
        sum(abs(before - after)::decimal(38, 12))::double as difference,
        sum(least(before, after)::decimal(38, 12))::double as common
    from measured
    group by flows, measure
),

named as (
    select unnest(['raw', 'constrained']) as flows
),

expected as (
    select flows, unnest(['all', 'pareto', 'backbone', 'hotspot', 'commuters']) as measure
    from named
)

select
    $utility_id as utility_id,
    expected.flows,
    expected.measure,
    coalesce(summed.pairs, 0) as pairs,
    coalesce(summed.before, 0) as before,
    coalesce(summed.after, 0) as after,
    coalesce(summed.difference, 0) as difference,
    case
        when expected.measure = 'commuters' then 1 - 2 * summed.common / nullif(summed.before + summed.after, 0)
        else summed.difference / nullif(summed.before, 0)
    end as loss,
    2 * summed.common / nullif(summed.before + summed.after, 0) as common_part
from expected
left join summed on summed.flows = expected.flows and summed.measure = expected.measure
