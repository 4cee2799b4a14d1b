-- report.strongest: the strongest attack of the lab: the run and pairing that beat people who stay by most.
--
-- grain:   run_id
-- reads:   report.every_metric
-- shards by: run_id
-- view:    yes
-- columns:
--   run_id      VARCHAR  the run, see study.run
--   release_id  VARCHAR  the release attacked
--   attack      VARCHAR  name of the attack
--   seed        BIGINT   seed of its chance
--   pairing     VARCHAR  how tracks are taken for people: optimal or greedy

select run_id, release_id, attack, seed, pairing
from report.every_metric
where metric = 'accuracy' and level = 3 and attack not in ('shuffle', 'stay')
order by estimate - stay desc, pairing desc, run_id
limit 1
