-- figures.song2014_2: uniqueness before and after cutting traces into windows (song2014, figure 2).
--
-- grain:   release_id, series_order, series, x_value
-- reads:   metrics.risk, figures.song2014_window
-- shards by: risk_id
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  before, or the length of the windows
--   x_value       DOUBLE   random points known
--   estimate      DOUBLE   share of unique traces
--   low           DOUBLE   lower end of its 95 % interval, where it has one
--   high          DOUBLE   upper end of its 95 % interval, where it has one

select
    searched.release_id,
    searched.series_order,
    searched.series,
    searched.known::double as x_value,
    score.estimate,
    score.low,
    score.high
from figures.song2014_window as searched
join metrics.risk as score using (risk_id)
where score.scope = 'all' and score.metric = 'unique_share'
