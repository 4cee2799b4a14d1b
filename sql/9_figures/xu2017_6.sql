-- figures.xu2017_6: how far off the next place by day is guessed (xu2017, figure 6).
--
-- grain:   release_id, series_order, x_value
-- reads:   metrics.prediction_error
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  the guess: keeping pace as in the paper, or staying as a yardstick
--   x_value       DOUBLE   error in metres
--   estimate      DOUBLE   share of guesses with at most the error
--   low           DOUBLE   lower end of its 95 % interval, where it has one
--   high          DOUBLE   upper end of its 95 % interval, where it has one

select
    release_id,
    case model when 'velocity' then 1 else 2 end as series_order,
    case model when 'velocity' then 'keeping pace (the paper)' else 'staying (a yardstick)' end as series,
    metres::double as x_value,
    estimate,
    low,
    high
from metrics.prediction_error
where time_of_day = 'day'
