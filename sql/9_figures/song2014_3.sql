-- figures.song2014_3: how many traces share two points, whole and in windows of six hours (song2014, figure 3).
--
-- Crowds of up to ten.
--
-- grain:   release_id, series_order, series, x_value
-- reads:   figures.song2014_4
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  before, or the length of the windows
--   x_value       DOUBLE   people that share two points
--   estimate      DOUBLE   share of traces
--   low           DOUBLE   none
--   high          DOUBLE   none

select release_id, series_order, series, x_value, estimate, low, high
from figures.song2014_4
where x_value <= 10 and series in ('before', 'windows of 6h')
