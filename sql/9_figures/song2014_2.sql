-- figures.song2014_2: uniqueness before and after cutting traces into windows (song2014, figure 2).
--
-- grain:   release_id, series_order, series, x_value
-- reads:   metrics.risk, report.adversary
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  before, or the length of the windows
--   x_value       DOUBLE   random points known
--   estimate      DOUBLE   share of unique traces
--   low           DOUBLE   lower end of its 95 % interval, where it has one
--   high          DOUBLE   upper end of its 95 % interval, where it has one

with window_searched as (
    select distinct on (release_id, protection, known)
        risk_id,
        release_id,
        known,
        protection,
        case protection when 'none' then 'before' else 'windows of ' || split_part(protection, ':', 2) end as series,
        case
            when protection = 'none' then 0
            else length(protection) * 100 + ascii(split_part(protection, ':', 2))
        end as series_order
    from report.adversary
    where kind = 'points' and run_id is null and (protection = 'none' or protection like 'cut:%')
    order by release_id, protection, known, basis desc, sample desc nulls first, seed, risk_id
)

select
    searched.release_id,
    searched.series_order::integer as series_order,
    searched.series,
    searched.known::double as x_value,
    score.estimate,
    score.low,
    score.high
from window_searched as searched
join metrics.risk as score using (risk_id)
where score.scope = 'all' and score.metric = 'unique_share'
