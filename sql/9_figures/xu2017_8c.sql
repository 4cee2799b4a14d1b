-- figures.xu2017_8c: uniqueness of recovered trajectories and of true ones (xu2017, figure 8c).
--
-- grain:   release_id, series_order, series, x_value
-- reads:   metrics.recovery, figures.attack_run
-- shards by: run_id
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  the attack, or true trajectories
--   x_value       DOUBLE   most frequent places known
--   estimate      DOUBLE   share that nobody else shares
--   low           DOUBLE   lower end of its 95 % interval, where it has one
--   high          DOUBLE   upper end of its 95 % interval, where it has one

select
    run.release_id,
    case
        when score.of = 'truth' then 4
        else case run.attack when 'xu2017' then 0 when 'stay' then 2 when 'shuffle' then 3 else 1 end
    end as series_order,
    case score.of when 'truth' then 'true trajectories' else run.attack end as series,
    score.level::double as x_value,
    score.estimate,
    score.low,
    score.high
from figures.attack_run as run
join metrics.recovery as score using (run_id)
where score.metric = 'unique_share' and (score.of = 'recovered' or run.attack = 'xu2017')
