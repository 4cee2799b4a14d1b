-- report.cube_recovery: how much an attack recovers from a cube: of each group, of all groups, and of everybody's counts.
--
-- Accuracy is the share of slots in which a recovered track is in the cell of the person it is paired with, mean over
-- people. Scopes:
--   group    one group, attacked as a table of its own; without an estimate where it cannot be, and `reason` says why
--   all      the people of all groups that were attacked; its interval is normal, each group's variance its own
--   release  the counts of everybody, protected in the same way, under the same attack and seed, where that was run
-- People of a group of one are in no estimate: their counts are their trace.
--
-- grain:   cube_id, attack, settings, seed, pairing, scope, value
-- reads:   study.cube, study.cube_run, study.grouping, study.release, counts.release, metrics.recovery,
--          metrics.person_recovery, study.run
-- shards by: cube_id
-- view:    yes
-- columns:
--   cube_id          VARCHAR  the cube, see study.cube
--   attribute        VARCHAR  what people are divided by: home:<index>, or a column of the people table
--   attack           VARCHAR  name of the attack
--   settings         VARCHAR  JSON: settings of the attack that were given, sorted by name
--   seed             BIGINT   seed of its chance
--   pairing          VARCHAR  how tracks were paired with people, see metrics.pair; none where there is no run
--   scope            VARCHAR  group, all or release, see above
--   value            VARCHAR  the group: the home area, or the value of the column; null in the other scopes
--   groups           BIGINT   groups in the scope
--   attacked_groups  BIGINT   those of them that were attacked
--   people           BIGINT   people in the scope
--   attacked_people  BIGINT   those of them that the estimate is over
--   estimate         DOUBLE   the accuracy
--   low              DOUBLE   lower end of its 95 % interval
--   high             DOUBLE   upper end of its 95 % interval
--   shuffle          DOUBLE   the same of slots joined at random
--   stay             DOUBLE   the same of people who stay where they are
--   reason           VARCHAR  why a group, or none of them, can be attacked; null where it was

with yardstick as (
    select
        run.release_id,
        run.seed,
        score.pairing,
        max(case when run.attack = 'shuffle' then score.estimate end) as shuffle,
        max(case when run.attack = 'stay' then score.estimate end) as stay
    from study.run as run
    join metrics.recovery as score on score.run_id = run.run_id
    where
        run.attack in ('shuffle', 'stay')
        and score.of = 'recovered' and score.metric = 'accuracy' and score.level = 3
    group by run.release_id, run.seed, score.pairing
),

summed as (
    select
        run_id,
        pairing,
        count(*) as people,
        sum(accuracy::decimal(18, 15)) as total,
        sum((accuracy * accuracy)::decimal(18, 15)) as squares
    from metrics.person_recovery
    group by run_id, pairing
),

spread as (
    select
        run_id,
        pairing,
        people,
        total,
        (greatest(squares::double - total::double * total::double / people, 0)
            * people / greatest(people - 1, 1))::decimal(24, 12) as variance_of_sum
    from summed
),

group_score as (
    select
        attacked.cube_id,
        attacked.attack,
        attacked.settings,
        attacked.seed,
        attacked.value,
        attacked.people,
        attacked.run_id,
        attacked.reason,
        coalesce(score.pairing, 'none') as pairing,
        score.people as attacked_people,
        score.estimate,
        score.low,
        score.high,
        yardstick.shuffle,
        yardstick.stay
    from study.cube_run as attacked
    left join metrics.recovery as score
        on score.run_id = attacked.run_id
        and score.of = 'recovered' and score.metric = 'accuracy' and score.level = 3
    left join yardstick
        on yardstick.release_id = attacked.release_id
        and yardstick.seed = attacked.seed and yardstick.pairing = score.pairing
),

everybody as (
    select cube_id, attack, settings, seed, count(*) as groups, sum(people)::bigint as people
    from study.cube_run
    group by cube_id, attack, settings, seed
),

together as (
    select
        score.cube_id,
        score.attack,
        score.settings,
        score.seed,
        score.pairing,
        count(*) as attacked_groups,
        sum(spread.people)::bigint as attacked_people,
        sum(spread.total)::double / sum(spread.people) as estimate,
        sqrt(sum(spread.variance_of_sum)::double) / sum(spread.people) as deviation,
        sum((spread.people * score.shuffle)::decimal(24, 12))::double / sum(spread.people) as shuffle,
        sum((spread.people * score.stay)::decimal(24, 12))::double / sum(spread.people) as stay
    from group_score as score
    join spread on spread.run_id = score.run_id and spread.pairing = score.pairing
    group by score.cube_id, score.attack, score.settings, score.seed, score.pairing
),

plain_run as (
    select distinct attacked.cube_id, attacked.attack, attacked.settings, attacked.seed, run.run_id, run.release_id
    from study.cube_run as attacked
    join study.run as group_run on group_run.run_id = attacked.run_id
    join study.cube as cube on cube.cube_id = attacked.cube_id
    join study.release as made on made.unprotected_id = cube.release_id
    join counts.release as release
        on release.release_id = made.release_id
        and trim(regexp_replace(release.recipe, '(^| )(generalise|slots):[^ ]+', '', 'g')) = cube.recipe
    join study.run as run
        on run.release_id = release.release_id
        and run.attack = attacked.attack and run.seed = attacked.seed and run.settings = group_run.settings
),

one_plain_run as (
    select cube_id, attack, settings, seed, run_id, release_id
    from plain_run
    qualify row_number() over (partition by cube_id, attack, settings, seed order by release_id) = 1
),

every_scope as (
    select
        cube_id,
        attack,
        settings,
        seed,
        pairing,
        'group' as scope,
        value,
        1::bigint as groups,
        case when run_id is null then 0 else 1 end::bigint as attacked_groups,
        people,
        coalesce(attacked_people, 0) as attacked_people,
        estimate,
        low,
        high,
        shuffle,
        stay,
        reason
    from group_score
    union all
    select
        everybody.cube_id,
        everybody.attack,
        everybody.settings,
        everybody.seed,
        coalesce(together.pairing, 'none') as pairing,
        'all' as scope,
        null as value,
        everybody.groups,
        coalesce(together.attacked_groups, 0) as attacked_groups,
        everybody.people,
        coalesce(together.attacked_people, 0) as attacked_people,
        together.estimate,
        greatest(together.estimate - 1.96 * together.deviation, 0) as low,
        least(together.estimate + 1.96 * together.deviation, 1) as high,
        together.shuffle,
        together.stay,
        case when together.pairing is null then 'no group can be attacked' end as reason
    from everybody
    left join together
        on together.cube_id = everybody.cube_id and together.attack = everybody.attack
        and together.settings = everybody.settings and together.seed = everybody.seed
    union all
    select
        plain.cube_id,
        plain.attack,
        plain.settings,
        plain.seed,
        score.pairing,
        'release' as scope,
        null as value,
        grouping.groups,
        grouping.groups as attacked_groups,
        grouping.people,
        score.people as attacked_people,
        score.estimate,
        score.low,
        score.high,
        yardstick.shuffle,
        yardstick.stay,
        null as reason
    from one_plain_run as plain
    join study.cube as cube on cube.cube_id = plain.cube_id
    join study.grouping as grouping on grouping.grouping_id = cube.grouping_id
    join metrics.recovery as score
        on score.run_id = plain.run_id
        and score.of = 'recovered' and score.metric = 'accuracy' and score.level = 3
    left join yardstick
        on yardstick.release_id = plain.release_id
        and yardstick.seed = plain.seed and yardstick.pairing = score.pairing
)

select
    every_scope.cube_id,
    cube.attribute,
    every_scope.attack,
    every_scope.settings,
    every_scope.seed,
    every_scope.pairing,
    every_scope.scope,
    every_scope.value,
    every_scope.groups,
    every_scope.attacked_groups,
    every_scope.people,
    every_scope.attacked_people,
    every_scope.estimate,
    every_scope.low,
    every_scope.high,
    every_scope.shuffle,
    every_scope.stay,
    every_scope.reason
from every_scope
join study.cube as cube on cube.cube_id = every_scope.cube_id
