-- figures.yin2015_2: how large a crowd top locations leave (yin2015, figures 2a, 2b and 2c).
--
-- In order (a), in any order (b), and beside lists of variable length (c). Of frequent people where they are
-- told apart.
--
-- grain:   release_id, figure, series_order, x_value
-- reads:   metrics.anonymity_curve, report.adversary
-- shards by: run_id
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   figure        VARCHAR  number of the figure: 2a, 2b or 2c
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  how many places are known, and whether in order
--   x_value       DOUBLE   size of the crowd, k
--   estimate      DOUBLE   share of people with K ≤ k
--   low           DOUBLE   none
--   high          DOUBLE   none

with searched as (
    select distinct on (release_id, knowledge) risk_id, release_id, size, sequence
    from report.adversary
    where knowledge_kind = 'top' and run_id is null and protection = 'none'
    order by release_id, knowledge, basis = 'records' desc, sample desc nulls first, risk_id
),

scope as (
    select risk_id, max(scope) filter (scope in ('all', 'frequent')) as scope
    from metrics.anonymity_curve
    group by risk_id
),

panel as (
    select '2a' as figure, *
    from searched
    where size <> 'variable' and sequence = 'ordered'
    union all
    select '2b' as figure, *
    from searched
    where size <> 'variable' and sequence = 'unordered'
    union all
    select '2c' as figure, *
    from searched
    where size in ('2', 'variable')
)

select
    panel.release_id,
    panel.figure,
    dense_rank() over (partition by panel.release_id, panel.figure order by panel.size, panel.sequence)::integer
        as series_order,
    'top ' || panel.size || ' ' || panel.sequence as series,
    curve.k::double as x_value,
    curve.share as estimate,
    null::double as low,
    null::double as high
from panel
join scope using (risk_id)
join metrics.anonymity_curve as curve on curve.risk_id = panel.risk_id and curve.scope = scope.scope
