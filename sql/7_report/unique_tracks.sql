-- report.unique_tracks: how many recovered tracks a few places tell from all others, the truth beside them.
--
-- By the set of the one to five most frequent cells. unique_share: share of tracks whose set no other track has.
-- distinct_share: number of different sets / number of tracks. See metrics.recovery.
--
-- grain:   run_id, of, metric, cells_known
-- reads:   report.every_metric, report.attack_run
-- shards by: run_id
-- view:    yes
-- columns:
--   release_id   VARCHAR  the release attacked
--   run_id       VARCHAR  the run, see study.run
--   run_rank     INTEGER  place of the run in report.attack_run
--   of           VARCHAR  recovered, or truth as its yardstick
--   metric       VARCHAR  unique_share or distinct_share
--   cells_known  INTEGER  most frequent cells in the set, 1 to 5
--   people       BIGINT   tracks or people compared
--   estimate     DOUBLE   the share
--   low          DOUBLE   lower end of its 95 % interval
--   high         DOUBLE   upper end of its 95 % interval

select
    score.release_id,
    score.run_id,
    run.run_rank,
    score.of,
    score.metric,
    score.level as cells_known,
    score.people,
    score.estimate,
    score.low,
    score.high
from report.every_metric as score
join report.attack_run as run on run.run_id = score.run_id and run.release_id = score.release_id
where score.metric in ('unique_share', 'distinct_share')
