-- figures.dsilva2024_3: distinct sets of top places, of truth and of what is recovered (dsilva2024, figure 3).
--
-- grain:   release_id, series_order, x_value
-- reads:   metrics.recovery, figures.attack_run
-- shards by: run_id
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  the attack, or true trajectories
--   x_value       DOUBLE   k most frequent places
--   estimate      DOUBLE   distinct sets / trajectories
--   low           DOUBLE   lower end of its 95 % interval, where it has one
--   high          DOUBLE   upper end of its 95 % interval, where it has one

with attacked as (
    select release_id, attack, run_id, attack = max(attack) over (partition by release_id) as of_truth
    from figures.attack_run
    where attack in ('xu2017', 'dsilva2024')
)

select
    run.release_id,
    case when score.of = 'truth' then 1 when run.attack = 'xu2017' then 2 else 3 end as series_order,
    case score.of when 'truth' then 'true trajectories' else run.attack end as series,
    score.level::double as x_value,
    score.estimate,
    score.low,
    score.high
from attacked as run
join metrics.recovery as score using (run_id)
where score.metric = 'distinct_share' and (score.of = 'recovered' or run.of_truth)
