-- figures.xu2017_3: share of people told from all others by a few points (xu2017, figure 3).
--
-- Of several seeds the smallest.
--
-- grain:   release_id, series_order, x_value
-- reads:   metrics.singled_out
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  Top-K, Rand-K or Cont-K: most frequent places, random points, points in a row
--   x_value       DOUBLE   points known
--   estimate      DOUBLE   share of people singled out
--   low           DOUBLE   lower end of its 95 % interval, where it has one
--   high          DOUBLE   upper end of its 95 % interval, where it has one

select
    release_id,
    case knowledge when 'top' then 1 when 'random' then 2 else 3 end as series_order,
    case knowledge when 'top' then 'Top-K' when 'random' then 'Rand-K' else 'Cont-K' end as series,
    points::double as x_value,
    estimate,
    low,
    high
from metrics.singled_out
qualify seed = min(seed) over (partition by release_id)
