-- study.score: every score of every run, beside the cells, slots and people of the release that was attacked.
--
-- What a study of factors lists: the same score over releases that differ in one of them.
--
-- grain:   run_id, of, metric, level, pairing
-- reads:   report.every_metric, report.summary
-- shards by: run_id
-- view:    yes
-- columns:
--   run_id        VARCHAR  the run, see study.run
--   release_id    VARCHAR  the release attacked
--   index_name    VARCHAR  kind and size of its cells
--   slot_minutes  DOUBLE   length of its slots
--   people        BIGINT   people in the release
--   cells         BIGINT   cells with a published count
--   attack        VARCHAR  name of the attack
--   of            VARCHAR  recovered, or truth as its yardstick
--   metric        VARCHAR  name of the score, see metrics.recovery
--   level         INTEGER  k for unique_share and distinct_share; else the stage: 1 nights, 2 days, 3 everything
--   pairing       VARCHAR  optimal, greedy, or none where that does not matter
--   estimate      DOUBLE   the score
--   low           DOUBLE   lower end of its 95 % interval
--   high          DOUBLE   upper end of its 95 % interval
--   shuffle       DOUBLE   the same score of slots joined at random
--   stay          DOUBLE   the same score of people who stay where they are

select
    score.run_id,
    score.release_id,
    score.index_name,
    score.slot_minutes,
    release.people,
    release.cells,
    score.attack,
    score.of,
    score.metric,
    score.level,
    score.pairing,
    score.estimate,
    score.low,
    score.high,
    score.shuffle,
    score.stay
from report.every_metric as score
left join report.summary as release on release.release_id = score.release_id
where score.result = 'recovery'
