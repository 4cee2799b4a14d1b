-- metrics.singled_out: people whom a few known places, or places at times, tell from everybody else.
--
-- xu2017, figure 3: questions of study.risk about everybody in the true traces of a release (basis slots), in
-- one table. `top`: somebody knows the set of a person's most frequent places (top:3:unordered), and the
-- person is singled out when nobody else has the same set. `random` and `consecutive`: somebody knows
-- points at random (points:3) or in a row (cont:3), and the person is singled out when nobody else
-- passes through all of them. `lab.feasibility` asks them; what nobody has so many of is not asked.
--
-- People with fewer places or points are known by all they have. They stay among `people`,
-- so that sparse data cannot look safer by leaving them out. The interval is Wilson's, 95 %.
--
-- grain:   release_id, seed, knowledge, points
-- reads:   study.risk, study.traces, metrics.risk
-- shards by: run_id
-- view:    yes
-- columns:
--   release_id     VARCHAR  the release
--   knowledge      VARCHAR  what is known: top, random or consecutive
--   points         INTEGER  how many places or points are known, 1 to 5
--   people         BIGINT   people in the release
--   unique_people  BIGINT   people singled out
--   estimate       DOUBLE   unique_people / people
--   low            DOUBLE   lower end of the 95 % interval of the estimate
--   high           DOUBLE   upper end
--   seed           BIGINT   seed of the draws

with question as (
    select
        risk.risk_id,
        risk.release_id,
        risk.seed,
        split_part(risk.in_full, ':', 1) as kind,
        split_part(risk.in_full, ':', 2)::integer as points
    from study.risk as risk
    join study.traces as searched on searched.traces_id = risk.searched_id
    where
        regexp_full_match(risk.in_full, 'top:[1-5]:unordered:0.1|(points|cont):[1-5]:all')
        and risk.known_id = risk.searched_id
        and risk.sample is null
        and searched.basis = 'slots'
        and searched.protection = 'none'
)

select
    question.release_id,
    case question.kind when 'points' then 'random' when 'cont' then 'consecutive' else 'top' end as knowledge,
    question.points,
    score.people,
    round(score.estimate * score.people)::bigint as unique_people,
    score.estimate,
    score.low,
    score.high,
    question.seed
from question
join metrics.risk as score on score.risk_id = question.risk_id
where score.scope = 'all' and score.metric = 'unique_share'
