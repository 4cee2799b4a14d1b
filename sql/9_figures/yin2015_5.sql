-- figures.yin2015_5: loss of utility by the size of cells (yin2015, figures 5a to 5d).
--
-- Raw movements in the larger zones (a) and the smaller (b), then movements constrained in time (c, d).
--
-- grain:   release_id, figure, series_order, x_value, estimate
-- reads:   metrics.tradeoff, figures.yin2015_zones
-- shards by: tradeoff_id
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   figure        VARCHAR  number of the figure: 5a to 5d
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  the measure, and how many zones
--   x_value       DOUBLE   size of cells, metres
--   estimate      DOUBLE   loss of utility
--   low           DOUBLE   none
--   high          DOUBLE   none

with loss as (
    select distinct zones.release_id, zones.zones_order, zones.sets, zones.series, point.flows, point.measure,
        point.size_m, point.loss
    from figures.yin2015_zones as zones
    join metrics.tradeoff as point using (tradeoff_id, zones_id)
    where point.loss is not null
),

panel as (
    select case flows when 'raw' then '5a' else '5c' end as figure, *
    from loss
    where zones_order = 1
    union all
    select case flows when 'raw' then '5b' else '5d' end as figure, *
    from loss
    where zones_order = sets and sets > 1
)

select
    release_id,
    figure,
    dense_rank() over (partition by release_id, figure order by measure)::integer as series_order,
    measure || ', ' || series as series,
    size_m as x_value,
    loss as estimate,
    null::double as low,
    null::double as high
from panel
