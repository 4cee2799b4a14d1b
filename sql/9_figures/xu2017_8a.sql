-- figures.xu2017_8a: accuracy after each stage of the recovery (xu2017, figure 8a).
--
-- Greedy pairing where it was run, as in the paper.
--
-- grain:   release_id, series_order, series, x_value
-- reads:   metrics.pair, metrics.recovery, figures.attack_run
-- shards by: run_id
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  the attack
--   x_value       DOUBLE   the stage: 1, 2, 3
--   x_label       VARCHAR  the stage in words
--   estimate      DOUBLE   share of slots in the right cell
--   low           DOUBLE   lower end of its 95 % interval, where it has one
--   high          DOUBLE   upper end of its 95 % interval, where it has one

with pairing as (
    select run_id, min(pairing) as pairing from metrics.pair group by run_id
)

select
    run.release_id,
    case run.attack when 'xu2017' then 0 when 'stay' then 2 when 'shuffle' then 3 else 1 end as series_order,
    run.attack as series,
    score.level::double as x_value,
    case score.level when 1 then '#1 nights' when 2 then '#2 days' else '#3 everything' end as x_label,
    score.estimate,
    score.low,
    score.high
from figures.attack_run as run
join pairing using (run_id)
join metrics.recovery as score on score.run_id = run.run_id and score.pairing = pairing.pairing
where score.metric = 'accuracy' and score.of = 'recovered'
