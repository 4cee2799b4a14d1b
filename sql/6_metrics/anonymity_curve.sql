-- metrics.anonymity_curve: how many people hide in a crowd of each size, and in one no larger.
--
-- The distribution of the anonymity set: figures 2 to 4 of yin2015, 3 and 4 of song2014. Only sizes that
-- somebody has. People at risk in no crowd, see metrics.risk, have no row and stay in the denominator: where
-- there are any, the last share is below 1.
--
-- grain:   risk_id, scope, k
-- reads:   metrics.target, metrics.anonymity
-- params:  risk_id
-- shards by: risk_id
-- columns:
--   risk_id  VARCHAR  the question, see study.risk
--   scope    VARCHAR  who counts, see metrics.risk: all, frequent or frequent_of_all
--   k        BIGINT   traces that fit what is known, the person's own among them
--   people   BIGINT   people with exactly this k
--   at_most  BIGINT   people with this k or a smaller one
--   share    DOUBLE   at_most / people in the scope

with answer as (
    select target.frequent, case when anonymity.found then anonymity.k end as k
    from metrics.target as target
    join metrics.anonymity as anonymity on anonymity.risk_id = target.risk_id and anonymity.trace = target.trace
    where target.risk_id = $risk_id
),

member as (
    select 'all' as scope, k
    from answer
    union all
    select 'frequent' as scope, k
    from answer
    where frequent
    union all
    select 'frequent_of_all' as scope, case when frequent then k end as k
    from answer
    where (select count(*) from answer where frequent) > 0
),

crowd as (
    select scope, k, count(*) as people
    from member
    group by scope, k
),

counted as (
    select
        scope,
        k,
        people,
        sum(people) over (partition by scope order by k nulls last)::bigint as at_most,
        sum(people) over (partition by scope) as everybody
    from crowd
)

select
    $risk_id as risk_id,
    scope,
    k,
    people,
    at_most,
    at_most / everybody::double as share
from counted
where k is not null
