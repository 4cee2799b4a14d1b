-- report.cube_risk: in how large a crowd people hide within their group, and among everybody: publishing divides crowds.
--
-- Whoever knows the group of a person searches the traces of that group alone. The same question is asked of the same
-- people among everybody in the release. People at risk in no crowd stay in the denominator.
--
-- grain:   cube_id, knowledge, basis, seed, scope, value
-- reads:   study.cube, study.cube_risk, metrics.target, metrics.anonymity
-- shards by: cube_id
-- view:    yes
-- columns:
--   cube_id          VARCHAR  the cube, see study.cube
--   attribute        VARCHAR  what people are divided by: home:<index>, or a column of the people table
--   knowledge        VARCHAR  what is known, with every setting: top:2:ordered:0.1, points:4:all
--   basis            VARCHAR  what counts as a visit of the traces searched, see study.traces
--   seed             BIGINT   seed of what is drawn at random
--   scope            VARCHAR  group, or all of them together
--   value            VARCHAR  the group: the home area, or the value of the column; null for all
--   groups           BIGINT   groups in the scope
--   people           BIGINT   people looked for
--   unique_share     DOUBLE   share of them singled out within their group
--   low              DOUBLE   lower end of its 95 % interval, Wilson's
--   high             DOUBLE   upper end of its 95 % interval
--   mean_risk        DOUBLE   mean of the chance to pick the right trace within their group
--   everybody_share  DOUBLE   share of the same people singled out among everybody
--   everybody_risk   DOUBLE   mean of their chance to be picked among everybody

with person as (
    select
        asked.cube_id,
        asked.knowledge,
        asked.basis,
        asked.seed,
        asked.value,
        case when within.found and within.k = 1 then 1 else 0 end as is_unique,
        within.pick_chance::decimal(18, 15) as risk,
        case when among.found and among.k = 1 then 1 else 0 end as is_unique_among,
        among.pick_chance::decimal(18, 15) as risk_among
    from study.cube_risk as asked
    join metrics.target as target on target.risk_id = asked.risk_id
    join metrics.anonymity as within on within.risk_id = target.risk_id and within.trace = target.trace
    left join metrics.target as same
        on same.risk_id = asked.everybody_id and same.person = target.person
    left join metrics.anonymity as among on among.risk_id = same.risk_id and among.trace = same.trace
),

summary as (
    select
        cube_id,
        knowledge,
        basis,
        seed,
        case when grouping(value) = 0 then 'group' else 'all' end as scope,
        value,
        count(distinct value) as groups,
        count(*) as people,
        sum(is_unique) / count(*)::double as unique_share,
        sum(risk)::double / count(*) as mean_risk,
        sum(is_unique_among) / count(*)::double as everybody_share,
        sum(risk_among)::double / count(*) as everybody_risk
    from person
    group by grouping sets ((cube_id, knowledge, basis, seed, value), (cube_id, knowledge, basis, seed))
)

select
    summary.cube_id,
    cube.attribute,
    summary.knowledge,
    summary.basis,
    summary.seed,
    summary.scope,
    summary.value,
    summary.groups,
    summary.people,
    summary.unique_share,
    wilson_low(summary.unique_share, summary.people) as low,
    wilson_high(summary.unique_share, summary.people) as high,
    summary.mean_risk,
    summary.everybody_share,
    summary.everybody_risk
from summary
join study.cube as cube on cube.cube_id = summary.cube_id
