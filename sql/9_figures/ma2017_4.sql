-- figures.ma2017_4: how people are distributed over the rates of a leak of schedules (ma2017, figures 4a, 4b and 4c).
--
-- In steps of one hundredth, for the size of crowd that was asked for.
--
-- grain:   release_id, figure, series_order, x_value
-- reads:   metrics.leak_curve, figures.ma2017_leak
-- shards by: risk_id
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   figure        VARCHAR  number of the figure: 4a, 4b or 4c
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  the rate, and the size of the crowds
--   x_value       DOUBLE   the rate
--   estimate      DOUBLE   share of people with at most so much
--   low           DOUBLE   none
--   high          DOUBLE   none

with rate as (
    select unnest(range(0, 101)) as hundredths
),

share_of_people as (
    select
        leak.release_id,
        leak.min_k,
        curve.metric,
        rate.hundredths,
        coalesce(max(curve.share) filter (round(100 * curve.threshold) <= rate.hundredths), 0) as share
    from figures.ma2017_leak as leak
    join metrics.leak_curve as curve using (leak_id, min_k)
    cross join rate
    where curve.metric in ('prob_m', 'ssr', 'ntr', 'ssr_ntr')
    group by leak.release_id, leak.min_k, curve.metric, rate.hundredths
)

select
    release_id,
    case metric when 'prob_m' then '4a' when 'ssr_ntr' then '4c' else '4b' end as figure,
    case metric when 'ntr' then 2 else 1 end as series_order,
    case metric when 'prob_m' then 'prob-m' when 'ssr_ntr' then 'ssr/ntr' else metric end
    || ', crowds of ' || min_k || ' or more' as series,
    hundredths / 100.0::double as x_value,
    share as estimate,
    null::double as low,
    null::double as high
from share_of_people
