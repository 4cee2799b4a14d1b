-- figures.yin2015_6_to_13: loss of utility against risk, measured and fitted (yin2015, figures 6a to 13d).
--
-- Raw movements in figures 6 to 9, those constrained in time in 10 to 13: all flows, the largest, those that
-- stand out, those of busy zones. Known are the top two places (a), the top three (b), four points (c), eight
-- (d). A fitted curve is loss = c - a risk^b, in 40 steps over the risks that were measured.
--
-- grain:   release_id, figure, series_order, x_value, step, estimate
-- reads:   metrics.tradeoff, metrics.tradeoff_fit, figures.yin2015_zones
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   figure        VARCHAR  number of the figure: 6a to 13d
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  how many zones, or the curve fitted to them
--   x_value       DOUBLE   share of people singled out
--   step          INTEGER  the step of the trade-off, or of the curve
--   estimate      DOUBLE   loss of utility
--   low           DOUBLE   none
--   high          DOUBLE   none

with panel as (
    select
        zones.release_id,
        zones.tradeoff_id,
        zones.zones_id,
        zones.zones_order,
        zones.series,
        point.knowledge,
        point.flows,
        point.measure,
        case point.flows when 'raw' then 6 else 10 end
        + case point.measure when 'all' then 0 when 'pareto' then 1 when 'backbone' then 2 else 3 end
        || case point.knowledge when 'top:2' then 'a' when 'top:3' then 'b' when 'points:4' then 'c' else 'd' end
            as figure,
        point.step,
        point.risk,
        point.loss
    from figures.yin2015_zones as zones
    join metrics.tradeoff as point using (tradeoff_id, zones_id)
    where point.step > 0
        and point.measure in ('all', 'pareto', 'backbone', 'hotspot')
        and point.knowledge in ('top:2', 'top:3', 'points:4', 'points:8')
        and point.risk is not null
        and point.loss is not null
),

reach as (
    select
        release_id,
        tradeoff_id,
        zones_id,
        zones_order,
        series,
        knowledge,
        flows,
        measure,
        figure,
        min(risk) as lowest,
        max(risk) as highest
    from panel
    group by all
),

fitted as (
    select
        reach.release_id,
        reach.figure,
        reach.zones_order,
        reach.series || ', fitted: b = ' || round(fit.b, 2) || ', R² = ' || round(fit.r2, 3) as series,
        reach.lowest,
        reach.highest,
        unnest(range(41))::integer as step,
        fit.a,
        fit.b,
        fit.c
    from reach
    join metrics.tradeoff_fit as fit using (tradeoff_id, zones_id, knowledge, flows, measure)
    where fit.b is not null
),

curve as (
    select
        release_id,
        figure,
        zones_order,
        series,
        step,
        lowest + (highest - lowest) * step / 40 as risk,
        a,
        b,
        c
    from fitted
)

select
    release_id,
    figure,
    2 * zones_order as series_order,
    series,
    risk as x_value,
    step,
    loss as estimate,
    null::double as low,
    null::double as high
from panel
union all
select
    release_id,
    figure,
    2 * zones_order + 1 as series_order,
    series,
    risk as x_value,
    step,
    c - a * pow(risk, b) as estimate,
    null::double as low,
    null::double as high
from curve
