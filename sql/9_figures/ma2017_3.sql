-- figures.ma2017_3: how large a crowd a few points leave (ma2017, figure 3).
--
-- grain:   release_id, x_value
-- reads:   metrics.anonymity_curve, figures.ma2017_leak
-- shards by: risk_id
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  how many points are known
--   x_value       DOUBLE   size of the crowd, k
--   estimate      DOUBLE   share of people with K ≤ k
--   low           DOUBLE   none
--   high          DOUBLE   none

select
    leak.release_id,
    1 as series_order,
    leak.points || case leak.points when 1 then ' point' else ' points' end || ' known' as series,
    curve.k::double as x_value,
    curve.share as estimate,
    null::double as low,
    null::double as high
from figures.ma2017_leak as leak
join metrics.anonymity_curve as curve on curve.risk_id = leak.risk_id and curve.scope = 'all'
