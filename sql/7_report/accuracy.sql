-- report.accuracy: how often each attack places a person in the right cell, beside what needs no skill.
--
-- Share of slots in which a recovered track is in the cell of the person that it is paired with, mean over people:
-- nights by themselves, whole days by themselves, then all days linked. What an attack gets beyond shuffle
-- and stay, it has learned about people. See metrics.recovery.
--
-- grain:   run_id, pairing, level
-- reads:   report.every_metric, report.attack_run
-- shards by: run_id
-- view:    yes
-- columns:
--   release_id  VARCHAR  the release attacked
--   run_id      VARCHAR  the run, see study.run
--   run_rank    INTEGER  place of the run in report.attack_run
--   attack      VARCHAR  name of the attack
--   pairing     VARCHAR  how tracks were paired with people: optimal or greedy
--   level       INTEGER  the stage: 1 nights, 2 days, 3 everything
--   people      BIGINT   people that the mean is over
--   estimate    DOUBLE   the accuracy
--   low         DOUBLE   lower end of its 95 % interval
--   high        DOUBLE   upper end of its 95 % interval
--   shuffle     DOUBLE   the same of slots joined at random; null where that was not run
--   stay        DOUBLE   the same of people who stay where they are; null where that was not run
--   control     DOUBLE   the same against people who are not meant, over everything; see metrics.control

select
    score.release_id,
    score.run_id,
    run.run_rank,
    score.attack,
    score.pairing,
    score.level,
    score.people,
    score.estimate,
    score.low,
    score.high,
    score.shuffle,
    score.stay,
    score.control
from report.every_metric as score
join report.attack_run as run on run.run_id = score.run_id and run.release_id = score.release_id
where score.metric = 'accuracy'
