-- figures.attack_run: the run of each attack on a release that figures show: the one of the smallest seed.
--
-- grain:   release_id, attack
-- reads:   study.run
-- shards by: run_id
-- view:    yes
-- columns:
--   release_id  VARCHAR  the release attacked
--   attack      VARCHAR  name of the attack
--   run_id      VARCHAR  its run, see study.run

select distinct on (release_id, attack) release_id, attack, run_id
from study.run
order by release_id, attack, seed, run_id
