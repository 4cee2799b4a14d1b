-- report.matching_proof: how good the matchings of each run are proven to be.
--
-- A gap near 0 says that no matching is better: what was not recovered is no weakness of the search.
-- Costs are metres for nights and days, bits for links, see attacks.step.
--
-- grain:   run_id, phase
-- reads:   attacks.step, report.attack_run
-- shards by: run_id
-- view:    yes
-- columns:
--   release_id       VARCHAR  the release attacked
--   run_id           VARCHAR  the run, see study.run
--   run_rank         INTEGER  place of the run in report.attack_run
--   phase            VARCHAR  night, day, or link for the first slot of a day
--   matchings        BIGINT   matchings of that phase
--   cost             DOUBLE   sum of what they cost
--   proven_at_least  DOUBLE   sum of what no matching costs less than
--   proved           BIGINT   matchings with a gap below a thousandth: what breaking ties leaves, tiny and not 0
--   most_off         DOUBLE   what a better matching could save at most: metres for nights and days, bits for links
--   rounds           INTEGER  most rounds that a matching took
--   largest_gap      DOUBLE   the largest gap of any of them, as a share of its cost

with proven as (
    select
        run_id,
        phase,
        count(*) as matchings,
        sum(cost) as cost,
        sum(bound) as proven_at_least,
        count(*) filter (gap < 0.001) as proved,
        max(cost - bound) as most_off,
        max(rounds) as rounds,
        max(gap) as largest_gap
    from attacks.step
    group by run_id, phase
)

select
    run.release_id,
    proven.run_id,
    run.run_rank,
    proven.phase,
    proven.matchings,
    proven.cost,
    proven.proven_at_least,
    proven.proved,
    proven.most_off,
    proven.rounds,
    proven.largest_gap
from proven
join report.attack_run as run on run.run_id = proven.run_id
