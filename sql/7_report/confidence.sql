-- report.confidence: whether an attack knows which of its guesses are right.
--
-- An adversary who knows the tenth of the guesses that is right needs no other tenth: compare decile 10 with
-- accuracy over everything. Where confidence is above accuracy, the attack believes too much of itself. See
-- metrics.confidence.
--
-- grain:   run_id, pairing, decile
-- reads:   metrics.confidence, report.attack_run
-- shards by: run_id
-- view:    yes
-- columns:
--   release_id        VARCHAR  the release attacked
--   run_id            VARCHAR  the run, see study.run
--   run_rank          INTEGER  place of the run in report.attack_run
--   pairing           VARCHAR  how tracks were paired with people, see metrics.pair
--   decile            INTEGER  10 for the surest tenth of the positions, 1 for the least sure
--   positions         BIGINT   positions in the class
--   confidence        DOUBLE   mean confidence of the class
--   accuracy          DOUBLE   share of the class in the right cell
--   overall_accuracy  DOUBLE   the same share over all classes

select
    run.release_id,
    curve.run_id,
    run.run_rank,
    curve.pairing,
    curve.decile,
    curve.positions,
    curve.confidence,
    curve.accuracy,
    (sum(curve.hits) over (partition by curve.run_id, curve.pairing))
        / (sum(curve.positions) over (partition by curve.run_id, curve.pairing))::double as overall_accuracy
from metrics.confidence as curve
join report.attack_run as run on run.run_id = curve.run_id
