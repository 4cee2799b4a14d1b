-- report.recovery_error: how far from the truth recovered positions are: the share up to each distance.
--
-- A position is one person in one slot; at a distance of 0 it is in the right cell. See metrics.error_cdf.
--
-- grain:   run_id, pairing, metres
-- reads:   metrics.error_cdf, report.attack_run
-- shards by: run_id
-- view:    yes
-- columns:
--   release_id  VARCHAR  the release attacked
--   run_id      VARCHAR  the run, see study.run
--   run_rank    INTEGER  place of the run in report.attack_run
--   pairing     VARCHAR  how tracks were paired with people, see metrics.pair
--   metres      INTEGER  a distance, from 0 to 100,000
--   positions   BIGINT   positions that are not farther away
--   share       DOUBLE   positions / all positions

select
    run.release_id,
    error.run_id,
    run.run_rank,
    error.pairing,
    error.metres,
    error.positions,
    error.share
from metrics.error_cdf as error
join report.attack_run as run on run.run_id = error.run_id
