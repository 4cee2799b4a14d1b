-- figures.xu2017_7: information gain between two days of one person and of two (xu2017, figure 7).
--
-- grain:   release_id, series_order, series, x_value
-- reads:   metrics.day_gain
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  whose days are compared
--   x_value       DOUBLE   information gain in bits, the middle of its bin
--   estimate      DOUBLE   share of pairs of days
--   low           DOUBLE   lower end of its 95 % interval, where it has one
--   high          DOUBLE   upper end of its 95 % interval, where it has one

select
    release_id,
    dense_rank() over (partition by release_id order by days_of)::integer as series_order,
    'days of ' || days_of as series,
    (gain_from + gain_to) / 2 as x_value,
    estimate,
    low,
    high
from metrics.day_gain
