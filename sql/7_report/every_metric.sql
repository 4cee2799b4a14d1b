-- report.every_metric: every score of every attack, with what was attacked and its yardsticks beside it.
--
-- A score means little by itself: `shuffle` is what joining the slots at random scores on the same release
-- with the same seed, `stay` what assuming that nobody moves scores. Both are null when they were
-- not run. `control` is what the same tracks score against people who are not meant, which is what chance alone
-- gives; it exists over the whole period (metrics.control). The scores are those of metrics.recovery.
--
-- grain:   run_id, of, metric, level, pairing
-- reads:   metrics.recovery, metrics.control, study.run, counts.release
-- params:  run_id
-- shards by: release_id
-- columns:
--   run_id        VARCHAR  the run, see study.run
--   release_id    VARCHAR  the release attacked
--   index_name    VARCHAR  kind and size of its cells; matrix for a table that somebody else published
--   slot_minutes  DOUBLE   length of its slots
--   attack        VARCHAR  name of the attack
--   settings      VARCHAR  JSON: settings of the attack
--   seed          BIGINT   seed of its chance
--   days          INTEGER  days recovered
--   of            VARCHAR  recovered, or truth as its yardstick
--   metric        VARCHAR  name of the score, see metrics.recovery
--   level         INTEGER  k for unique_share and distinct_share; else the stage: 1 nights, 2 days, 3 everything
--   pairing       VARCHAR  optimal, greedy, or none where that does not matter
--   people        BIGINT   people or tracks that the mean is over
--   estimate      DOUBLE   the score
--   low           DOUBLE   lower end of its 95 % interval
--   high          DOUBLE   upper end of its 95 % interval
--   shuffle       DOUBLE   the same score of slots joined at random
--   stay          DOUBLE   the same score of people who stay where they are
--   control       DOUBLE   the same score against people who are not meant

with this_run as (
    select run_id, release_id, attack, settings, seed, days
    from study.run
    where run_id = $run_id
),

yardstick as (
    select
        score.of,
        score.metric,
        score.level,
        score.pairing,
        max(case when run.attack = 'shuffle' then score.estimate end) as shuffle,
        max(case when run.attack = 'stay' then score.estimate end) as stay
    from study.run as run
    join this_run
        on this_run.release_id = run.release_id and this_run.seed = run.seed
    join metrics.recovery as score on score.run_id = run.run_id
    where run.attack in ('shuffle', 'stay')
    group by score.of, score.metric, score.level, score.pairing
)

select
    this_run.run_id,
    this_run.release_id,
    release.index_name,
    release.slot_seconds / 60.0::double as slot_minutes,
    this_run.attack,
    this_run.settings,
    this_run.seed,
    this_run.days,
    score.of,
    score.metric,
    score.level,
    score.pairing,
    score.people,
    score.estimate,
    score.low,
    score.high,
    yardstick.shuffle,
    yardstick.stay,
    control.estimate as control
from this_run
join metrics.recovery as score on score.run_id = this_run.run_id
left join counts.release as release on release.release_id = this_run.release_id
left join yardstick
    on yardstick.of = score.of
    and yardstick.metric = score.metric
    and yardstick.level = score.level
    and yardstick.pairing = score.pairing
left join metrics.control as control
    on control.run_id = this_run.run_id
    and score.of = 'recovered'
    and control.metric = score.metric
    and control.level = score.level
    and control.pairing = score.pairing
