-- report.attack_run: the attack runs on each release in the order of the page, and how they can be compared.
--
-- Attacks come first, by name, then what needs no skill: nobody moves (stay), slots joined at random (shuffle).
-- Scores depend on how tracks are paired with people, so runs compare by a pairing that all of them have.
--
-- grain:   run_id
-- reads:   study.run, report.every_metric
-- shards by: release_id
-- view:    yes
-- columns:
--   run_id      VARCHAR  the run, see study.run
--   release_id  VARCHAR  the release attacked
--   run_rank    INTEGER  place of the run among those on the release, from 1
--   attack      VARCHAR  name of the attack
--   settings    VARCHAR  JSON: settings of the attack
--   seed        BIGINT   seed of its chance
--   days        INTEGER  days recovered
--   optimal     BOOLEAN  whether it has scores by the optimal pairing
--   greedy      BOOLEAN  whether it has scores by the greedy pairing

with scored as (
    select run_id, bool_or(pairing = 'optimal') as optimal, bool_or(pairing = 'greedy') as greedy
    from report.every_metric
    group by run_id
)

select
    run.run_id,
    run.release_id,
    (row_number() over (
        partition by run.release_id
        order by
            case run.attack when 'shuffle' then 2 when 'stay' then 1 else 0 end,
            run.attack,
            run.settings,
            run.seed,
            run.run_id
    ))::integer as run_rank,
    run.attack,
    run.settings,
    run.seed,
    run.days,
    scored.optimal,
    scored.greedy
from study.run as run
join scored on scored.run_id = run.run_id
