-- report.every_metric: every answer of the lab in one relation, with the settings of the release that it is about.
--
-- Attacks, risk, membership, losses of flows, errors of counts and schedules stand below each other, `result` says
-- which; so risk against utility by cells, slots or recipe is one query. What only some have is null elsewhere.
--
-- A score of an attack means little by itself: `shuffle` is what joining the slots at random scores on the same
-- release with the same seed, `stay` what assuming that nobody moves scores. Both are null when they were
-- not run. `control` is what the same tracks score against people who are not meant, which is what chance alone
-- gives; it exists over the whole period (metrics.control). The scores are those of metrics.recovery.
--
-- True traces are searched whatever is done to the counts: risk about traces is that of the release without
-- protection, and holds for every one with the same `unprotected_id`. Losses of flows between the cells of an index, not
-- of a release of it, have no release_id; their cells and slots are there all the same.
--
-- grain:   result, result_id, compared_id, of, scope, metric, level, pairing
-- reads:   metrics.recovery, metrics.control, study.run, counts.release, metrics.risk, study.risk, study.traces,
--          metrics.membership, study.membership, metrics.utility, study.utility, study.od, metrics.count_error,
--          metrics.leak, study.leak, study.release
-- shards by: none
-- view:    yes
-- columns:
--   result           VARCHAR  recovery, risk, membership, flows, counts or schedule
--   result_id        VARCHAR  the run, question or comparison: a run_id, risk_id, membership_id, utility_id, leak_id, or
--     the release_id for counts
--   run_id           VARCHAR  the run, see study.run; null for all but recovery
--   release_id       VARCHAR  the release that was attacked, measured or published
--   unprotected_id   VARCHAR  the release without protection that it was made from; itself where it has none
--   compared_id      VARCHAR  the release that flows or counts are compared with
--   index_name       VARCHAR  kind and size of its cells; matrix for a table that somebody else published
--   slot_minutes     DOUBLE   length of its slots
--   recipe           VARCHAR  protections of its counts, in order, with blanks between; empty where there are none
--   attack           VARCHAR  name of the attack
--   settings         VARCHAR  JSON: settings of the attack
--   seed             BIGINT   seed of its chance
--   days             INTEGER  days recovered
--   adversary        VARCHAR  what is known (points:4), or for membership who looks (reference:earlier, release-only)
--   searched_run_id  VARCHAR  the run whose tracks the adversary searches; null where true traces are searched
--   zones_name       VARCHAR  zones that flows are compared between
--   about            VARCHAR  traces where true or protected ones are searched; table where it is about what is published
--   of               VARCHAR  for recovery: recovered, or truth as its yardstick
--   scope            VARCHAR  who counts (metrics.risk), which flows (metrics.utility) or which published table
--     (metrics.count_error)
--   metric           VARCHAR  name of the score, see metrics.recovery, metrics.risk and so on
--   level            INTEGER  k for unique_share and distinct_share, the stage of other scores of recovery: 1 nights, 2
--     days, 3 everything; the level of metrics.risk, the size of groups for membership, min_k for schedule
--   pairing          VARCHAR  optimal, greedy, or none where that does not matter
--   people           BIGINT   people or tracks that it is measured over
--   estimate         DOUBLE   the score
--   low              DOUBLE   lower end of its 95 % interval
--   high             DOUBLE   upper end of its 95 % interval
--   shuffle          DOUBLE   the same score of slots joined at random
--   stay             DOUBLE   the same score of people who stay where they are
--   control          DOUBLE   the same score against people who are not meant

with yardstick as (
    select
        run.release_id,
        run.seed,
        score.of,
        score.metric,
        score.level,
        score.pairing,
        max(case when run.attack = 'shuffle' then score.estimate end) as shuffle,
        max(case when run.attack = 'stay' then score.estimate end) as stay
    from study.run as run
    join metrics.recovery as score on score.run_id = run.run_id
    where run.attack in ('shuffle', 'stay')
    group by run.release_id, run.seed, score.of, score.metric, score.level, score.pairing
),

recovery as (
    select
        'recovery' as result,
        run.run_id as result_id,
        run.run_id,
        run.release_id,
        run.attack,
        run.settings,
        run.seed,
        run.days,
        'table' as about,
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
    from study.run as run
    join metrics.recovery as score on score.run_id = run.run_id
    left join yardstick
        on yardstick.release_id = run.release_id
        and yardstick.seed = run.seed
        and yardstick.of = score.of
        and yardstick.metric = score.metric
        and yardstick.level = score.level
        and yardstick.pairing = score.pairing
    left join metrics.control as control
        on control.run_id = run.run_id
        and score.of = 'recovered'
        and control.metric = score.metric
        and control.level = score.level
        and control.pairing = score.pairing
),

searched as (
    select
        asked.risk_id,
        coalesce(run.release_id, asked.release_id) as release_id,
        traces.run_id as searched_run_id,
        asked.knowledge as adversary,
        asked.seed
    from study.risk as asked
    left join study.traces as traces on traces.traces_id = asked.searched_id
    left join study.run as run on run.run_id = traces.run_id
),

risk as (
    select
        'risk' as result,
        score.risk_id as result_id,
        searched.release_id,
        searched.searched_run_id,
        searched.adversary,
        searched.seed,
        score.about,
        score.scope,
        score.metric,
        score.level,
        score.people,
        score.estimate,
        score.low,
        score.high
    from searched
    join metrics.risk as score on score.risk_id = searched.risk_id
),

membership as (
    select
        'membership' as result,
        asked.membership_id as result_id,
        asked.release_id,
        case when asked.recipe = 'exact' then '' else replace(asked.recipe, ',', '') end as recipe_tried,
        concat_ws(':', asked.adversary, asked.reference) as adversary,
        asked.seed,
        score.about,
        score.measure as metric,
        score.group_size as level,
        score.targets::bigint as people,
        score.estimate,
        score.low,
        score.high
    from study.membership as asked
    join metrics.membership as score on score.membership_id = asked.membership_id
),

flows as (
    select
        'flows' as result,
        asked.utility_id as result_id,
        after.published_id as release_id,
        asked.release_id as compared_id,
        asked.after_name,
        asked.zones_name,
        'table' as about,
        score.flows as scope,
        score.measure as metric,
        score.loss as estimate
    from study.utility as asked
    join metrics.utility as score on score.utility_id = asked.utility_id
    left join study.od as after on after.od_id = asked.after_id
),

counts as (
    select
        'counts' as result,
        release_id as result_id,
        release_id,
        unprotected_id as compared_id,
        about,
        published_table as scope,
        measure as metric,
        estimate,
        low,
        high
    from metrics.count_error
),

schedule as (
    select
        'schedule' as result,
        asked.leak_id as result_id,
        searched.release_id,
        searched.searched_run_id,
        searched.adversary,
        searched.seed,
        asked.about,
        score.metric,
        score.min_k as level,
        score.people,
        score.estimate,
        score.low,
        score.high
    from study.leak as asked
    join metrics.leak as score on score.leak_id = asked.leak_id
    left join searched on searched.risk_id = asked.risk_id
),

answer as (
    select * from recovery
    union all by name
    select * from risk
    union all by name
    select * from membership
    union all by name
    select * from flows
    union all by name
    select * from counts
    union all by name
    select * from schedule
)

select
    answer.result,
    answer.result_id,
    answer.run_id,
    answer.release_id,
    made.unprotected_id,
    answer.compared_id,
    coalesce(answer.after_name, release.index_name) as index_name,
    coalesce(release.slot_seconds, compared.slot_seconds) / 60.0::double as slot_minutes,
    coalesce(answer.recipe_tried, release.recipe, compared.recipe) as recipe,
    answer.attack,
    answer.settings,
    answer.seed,
    answer.days,
    answer.adversary,
    answer.searched_run_id,
    answer.zones_name,
    answer.about,
    answer.of,
    answer.scope,
    answer.metric,
    answer.level,
    answer.pairing,
    answer.people,
    answer.estimate,
    answer.low,
    answer.high,
    answer.shuffle,
    answer.stay,
    answer.control
from answer
left join counts.release as release on release.release_id = answer.release_id
left join counts.release as compared on compared.release_id = answer.compared_id
left join study.release as made on made.release_id = answer.release_id
