-- report.proved_steps: whether every step of an attack is proved optimal.
--
-- What is left comes from breaking ties, so it is tiny and not exactly 0.
--
-- grain:   run_id, phase
-- reads:   attacks.step
-- shards by: run_id
-- view:    yes
-- columns:
--   run_id    VARCHAR  the run, see study.run
--   phase     VARCHAR  night, day or link
--   steps     INTEGER  steps of the stage
--   proved    BIGINT   steps with a gap below a thousandth
--   most_off  DOUBLE   what a better matching could save at most: metres for night and day, bits for links
--   rounds    INTEGER  most rounds that a step took

select
    run_id,
    phase,
    count(*)::integer as steps,
    count(*) filter (gap < 0.001) as proved,
    max(cost - bound) as most_off,
    max(rounds) as rounds
from attacks.step
group by run_id, phase
