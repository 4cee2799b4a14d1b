-- report.accuracy_over_seeds: how much accuracy depends on an attack's own chance, beside how much on the people.
--
-- Runs of one attack with the same settings on the same release, which differ in their seed. Two intervals stand
-- beside each other: over seeds (Student's t, for the mean of the runs), and over people (bootstrap, mean of the
-- ends of the runs). The first says how sure the number is for these people, the second how much it would be with
-- others of the same kind; one seed has no interval.
--
-- grain:   release_id, attack, settings, pairing, level
-- reads:   report.every_metric
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id   VARCHAR  the release attacked
--   attack       VARCHAR  name of the attack
--   settings     VARCHAR  JSON: settings of the attack
--   pairing      VARCHAR  how tracks were paired with people: optimal or greedy
--   level        INTEGER  the stage: 1 nights, 2 days, 3 everything
--   seeds        BIGINT   runs, each with a seed of its own
--   estimate     DOUBLE   accuracy, mean over seeds
--   low          DOUBLE   lower end of its 95 % interval over seeds
--   high         DOUBLE   upper end of that interval
--   people_low   DOUBLE   lower end of the 95 % interval over people, mean over seeds
--   people_high  DOUBLE   upper end of that interval, mean over seeds
--   control      DOUBLE   the same against people who are not meant, see metrics.control, mean over seeds

with over_seeds as (
    select
        release_id,
        attack,
        settings,
        pairing,
        level,
        count(*) as seeds,
        avg(estimate::decimal(20, 15)) as estimate,
        coalesce(stddev_samp(round(estimate, 12)), 0) / sqrt(count(*)) as error,
        avg(low::decimal(20, 15)) as people_low,
        avg(high::decimal(20, 15)) as people_high,
        avg(control::decimal(20, 15)) as control
    from report.every_metric
    where of = 'recovered' and metric = 'accuracy'
    group by release_id, attack, settings, pairing, level
)

select
    release_id,
    attack,
    settings,
    pairing,
    level,
    seeds,
    estimate,
    case when seeds > 1 then greatest(round(estimate - student_t(seeds - 1) * error, 12), 0) end as low,
    case when seeds > 1 then least(round(estimate + student_t(seeds - 1) * error, 12), 1) end as high,
    people_low,
    people_high,
    control
from over_seeds
