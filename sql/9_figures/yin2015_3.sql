-- figures.yin2015_3: people singled out by points in space and time (yin2015, figure 3).
--
-- grain:   release_id, x_value
-- reads:   metrics.risk, report.adversary
-- shards by: run_id
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  name of the series
--   x_value       DOUBLE   points known
--   estimate      DOUBLE   share of people
--   low           DOUBLE   lower end of its 95 % interval, where it has one
--   high          DOUBLE   upper end of its 95 % interval, where it has one

with searched as (
    select distinct on (release_id, known) risk_id, release_id, known
    from report.adversary
    where knowledge_kind = 'points' and run_id is null and protection = 'none'
    order by release_id, known, basis = 'records' desc, sample desc nulls first, seed, risk_id
)

select
    searched.release_id,
    1 as series_order,
    'this release' as series,
    searched.known::double as x_value,
    score.estimate,
    score.low,
    score.high
from searched
join metrics.risk as score using (risk_id)
where score.scope = 'all' and score.metric = 'unique_share'
