-- figures.xu2017_8b: how far off recovered points are (xu2017, figure 8b).
--
-- Greedy pairing where it was run, as in the paper; errors of up to 20 km.
--
-- grain:   release_id, series_order, series, x_value
-- reads:   metrics.pair, metrics.error_cdf, figures.attack_run
-- shards by: run_id
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  the attack
--   x_value       DOUBLE   error in metres
--   estimate      DOUBLE   share of points with at most the error
--   low           DOUBLE   none
--   high          DOUBLE   none

with pairing as (
    select run_id, min(pairing) as pairing from metrics.pair group by run_id
)

select
    run.release_id,
    case run.attack when 'xu2017' then 0 when 'stay' then 2 when 'shuffle' then 3 else 1 end as series_order,
    run.attack as series,
    cdf.metres::double as x_value,
    cdf.share as estimate,
    null::double as low,
    null::double as high
from figures.attack_run as run
join pairing using (run_id)
join metrics.error_cdf as cdf on cdf.run_id = run.run_id and cdf.pairing = pairing.pairing
where cdf.metres <= 20000
