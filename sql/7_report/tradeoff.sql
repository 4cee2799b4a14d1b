-- report.tradeoff: the studies of what protection costs, and how many generalisations each has.
--
-- grain:   tradeoff_id
-- reads:   study.tradeoff, study.tradeoff_step
-- shards by: tradeoff_id
-- view:    yes
-- columns:
--   tradeoff_id      VARCHAR  the study, see study.tradeoff
--   release_id       VARCHAR  the release that is generalised
--   scope            VARCHAR  of whom the risk is, see metrics.risk
--   basis            VARCHAR  what counts as a visit of somebody looked for, see slots.visit
--   generalisations  BIGINT   steps, the release itself not counted

select
    asked.tradeoff_id,
    asked.release_id,
    asked.scope,
    asked.basis,
    count(distinct step.step) - 1 as generalisations
from study.tradeoff as asked
join study.tradeoff_step as step on step.tradeoff_id = asked.tradeoff_id
group by asked.tradeoff_id, asked.release_id, asked.scope, asked.basis
