-- figures.song2014_4: how many traces share two points, whole and cut into windows (song2014, figure 4).
--
-- grain:   release_id, series_order, series, x_value
-- reads:   metrics.anonymity_curve, report.adversary
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  before, or the length of the windows
--   x_value       DOUBLE   people that share two points
--   estimate      DOUBLE   share of traces
--   low           DOUBLE   none
--   high          DOUBLE   none

with window_searched as (
    select distinct on (release_id, protection, known)
        risk_id,
        release_id,
        known,
        protection,
        case protection when 'none' then 'before' else 'windows of ' || split_part(protection, ':', 2) end as series,
        case
            when protection = 'none' then 0
            else length(protection) * 100 + ascii(split_part(protection, ':', 2))
        end as series_order
    from report.adversary
    where kind = 'points' and run_id is null and (protection = 'none' or protection like 'cut:%')
    order by release_id, protection, known, basis desc, sample desc nulls first, seed, risk_id
)

select
    searched.release_id,
    searched.series_order::integer as series_order,
    searched.series,
    curve.k::double as x_value,
    curve.people / (curve.at_most / curve.share) as estimate,
    null::double as low,
    null::double as high
from window_searched as searched
join metrics.anonymity_curve as curve using (risk_id)
where searched.known = 2 and curve.scope = 'all'
