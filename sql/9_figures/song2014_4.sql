-- figures.song2014_4: how many traces share two points, whole and cut into windows (song2014, figure 4).
--
-- grain:   release_id, series_order, series, x_value
-- reads:   metrics.anonymity_curve, figures.song2014_window
-- shards by: risk_id
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  before, or the length of the windows
--   x_value       DOUBLE   people that share two points
--   estimate      DOUBLE   share of traces
--   low           DOUBLE   none
--   high          DOUBLE   none

select
    searched.release_id,
    searched.series_order,
    searched.series,
    curve.k::double as x_value,
    curve.people / (curve.at_most / curve.share) as estimate,
    null::double as low,
    null::double as high
from figures.song2014_window as searched
join metrics.anonymity_curve as curve using (risk_id)
where searched.known = 2 and curve.scope = 'all'
