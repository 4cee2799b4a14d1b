-- report.study_metric: every answer of a study for every one of its releases: risk against utility is one query.
--
--   select risk.index_name, risk.recipe, risk.estimate as risk, loss.estimate as loss
--   from report.study_metric as risk join report.study_metric as loss using (study_id, release_id, seed)
--   where risk.metric = 'unique_share' and risk.scope = 'all' and loss.metric = 'relative_error'
--
-- The rows of report.every_metric, with the cells, slots, recipe and seed of each release that they stand for.
--
-- grain:   study_id, release_id, seed, result, result_id, compared_id, of, scope, metric, level, pairing
-- reads:   study.study_answer, report.every_metric
-- shards by: study_id
-- view:    yes
-- columns:
--   study_id         VARCHAR  the study, see study.study
--   release_id       VARCHAR  the release
--   index_name       VARCHAR  its cells
--   slot_minutes     DOUBLE   length of its slots
--   recipe           VARCHAR  protections of its counts; empty where there are none
--   seed             BIGINT   the seed of the study that the answer is for
--   result           VARCHAR  recovery, risk, membership, flows, counts or schedule
--   result_id        VARCHAR  the answer, see report.every_metric
--   compared_id      VARCHAR  the release that flows or counts are compared with
--   attack           VARCHAR  the attack, or the one whose tracks an adversary searches
--   adversary        VARCHAR  what is known, or who looks
--   zones_name       VARCHAR  zones that flows are compared between
--   about            VARCHAR  traces where true or protected ones are searched; table where it is about what is published
--   of               VARCHAR  for recovery: recovered, or truth as its yardstick
--   scope            VARCHAR  who counts, which flows or which published table
--   metric           VARCHAR  name of the score
--   level            INTEGER  see report.every_metric
--   pairing          VARCHAR  optimal, greedy, or none where that does not matter
--   people           BIGINT   people or tracks that it is measured over
--   estimate         DOUBLE   the score
--   low              DOUBLE   lower end of its 95 % interval
--   high             DOUBLE   upper end of its 95 % interval
--   shuffle          DOUBLE   the same score of slots joined at random
--   stay             DOUBLE   the same score of people who stay where they are

with attack_of_run as (
    select distinct run_id, attack
    from report.every_metric
    where run_id is not null
)

select
    answer.study_id,
    answer.release_id,
    answer.index_name,
    answer.slot_minutes,
    answer.recipe,
    answer.seed,
    answer.result,
    answer.result_id,
    score.compared_id,
    coalesce(score.attack, searched.attack) as attack,
    score.adversary,
    score.zones_name,
    score.about,
    score.of,
    score.scope,
    score.metric,
    score.level,
    score.pairing,
    score.people,
    score.estimate,
    score.low,
    score.high,
    score.shuffle,
    score.stay
from study.study_answer as answer
join report.every_metric as score
    on score.result = answer.result
    and score.result_id = answer.result_id
    and (answer.compared_id is null or score.compared_id = answer.compared_id)
left join attack_of_run as searched on searched.run_id = score.searched_run_id
