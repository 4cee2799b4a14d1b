-- figures.xu2017_5: share of the night in its most frequent places (xu2017, figure 5).
--
-- grain:   release_id, series_order, x_value
-- reads:   metrics.night_share
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  name of the series
--   x_value       DOUBLE   most frequent places
--   estimate      DOUBLE   share of the night
--   low           DOUBLE   lower end of its 95 % interval, where it has one
--   high          DOUBLE   upper end of its 95 % interval, where it has one

select release_id, 1 as series_order, 'this release' as series, places::double as x_value, estimate, low, high
from metrics.night_share
