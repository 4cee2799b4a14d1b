-- report.nearly_whole: how many people an attack recovers nearly whole.
--
-- A mean of 0.4 can be everybody at 0.4, or four in ten laid bare.
--
-- grain:   run_id, pairing
-- reads:   metrics.person_recovery, study.run
-- shards by: run_id
-- view:    yes
-- columns:
--   run_id           VARCHAR  the run, see study.run
--   pairing          VARCHAR  how tracks are taken for people: optimal or greedy
--   release_id       VARCHAR  the release attacked
--   attack           VARCHAR  name of the attack
--   seed             BIGINT   seed of its chance
--   people           BIGINT   people of the release
--   above_80         BIGINT   people with more than 80 % of their slots right
--   share            DOUBLE   their share of the people
--   median_accuracy  DOUBLE   median over people of the share of slots that are right

select
    recovery.run_id,
    recovery.pairing,
    run.release_id,
    run.attack,
    run.seed,
    count(*) as people,
    count(*) filter (recovery.accuracy > 0.8) as above_80,
    count(*) filter (recovery.accuracy > 0.8) / count(*)::double as share,
    median(recovery.accuracy) as median_accuracy
from metrics.person_recovery as recovery
join study.run as run using (run_id)
group by recovery.run_id, recovery.pairing, run.release_id, run.attack, run.seed
