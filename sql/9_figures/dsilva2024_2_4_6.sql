-- figures.dsilva2024_2_4_6: scores of every attack beside two yardsticks (dsilva2024, figures 2, 4 and 6).
--
-- Figure 2 is about accuracy, figure 4 about the error, figure 6 about the edit distance. Optimal pairing
-- where it was run, as in the paper.
--
-- grain:   release_id, figure, x_value, x_label
-- reads:   metrics.pair, metrics.recovery, figures.attack_run
-- shards by: run_id
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   figure        VARCHAR  number of the figure: 2, 4 or 6
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  name of the series
--   x_value       DOUBLE   place of the attack along the axis
--   x_label       VARCHAR  the attack
--   estimate      DOUBLE   share of slots in the right cell (2), mean error in metres (4), 1 - edits / slots (6)
--   low           DOUBLE   lower end of its 95 % interval, where it has one
--   high          DOUBLE   upper end of its 95 % interval, where it has one

with pairing as (
    select run_id, max(pairing) as pairing from metrics.pair group by run_id
)

select
    run.release_id,
    case score.metric when 'accuracy' then '2' when 'error_m' then '4' else '6' end as figure,
    1 as series_order,
    'this release' as series,
    case run.attack
        when 'xu2017' then 1.0::double
        when 'dsilva2024' then 2
        when 'stay' then 4
        when 'shuffle' then 5
        else 3
    end as x_value,
    run.attack as x_label,
    score.estimate,
    score.low,
    score.high
from figures.attack_run as run
join pairing using (run_id)
join metrics.recovery as score on score.run_id = run.run_id and score.pairing = pairing.pairing
where score.metric in ('accuracy', 'error_m', 'levenshtein') and score.level = 3 and score.of = 'recovered'
