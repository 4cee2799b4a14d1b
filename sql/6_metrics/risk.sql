-- metrics.risk: how exposed people are to an adversary who knows a little: the summary of an answer.
--
-- A person is at risk in a crowd of k when k of the traces searched fit what is known and the person's own is
-- one of them (metrics.anonymity). Where it is not, as may happen among recovered tracks, the person stays in
-- the denominator and is at risk in no crowd, however large. Where a protection divided people, each
-- of their traces counts as a person of its own (song2014).
--
-- Scopes, as in table 1 of yin2015; the last two are left out where nobody is frequent:
--   all              everybody looked for, as measured
--   frequent         frequent people alone, see metrics.target
--   frequent_of_all  everybody looked for, people who are not frequent counted as not at risk
-- Metrics:
--   unique_share       share of people singled out: k = 1, their own
--   at_most_k          share of people with k <= level
--   k_percentile       the k that level % of people do not exceed: that of the person at rank
--                      ceil(people * level / 100); null where that person is not at risk
--   mean_risk          mean of the chance to pick the right trace (`pick_chance` in metrics.anonymity)
--   worst_decile_risk  the same over the tenth of people, rounded up, with the highest
-- Intervals are 95 %: Wilson's for shares, normal for means, cut at 0 and 1. That of the worst tenth
-- has the variance of what exceeds the tenth's lowest risk, divided by the tenth. That of a
-- percentile is the k at the ranks n p -/+ 1.96 sqrt(n p (1 - p)), null as above.
--
-- grain:   risk_id, scope, metric, level
-- reads:   metrics.target, metrics.anonymity
-- params:  risk_id, about
-- shards by: risk_id
-- columns:
--   risk_id   VARCHAR  the question, see study.risk
--   scope     VARCHAR  who counts, see above
--   metric    VARCHAR  what is measured, see above
--   level     INTEGER  k for shares, the percentage for k_percentile; 1 for unique_share, 100 and 10 for the
--                      mean and the worst decile: the percentage of people that they are over
--   about     VARCHAR  traces where true or protected ones are searched, so that leaving out small counts changes
--                      nothing; table where tracks are searched that an attack recovered from the counts
--   people    BIGINT   people in the scope
--   estimate  DOUBLE   the value
--   low       DOUBLE   lower end of its interval
--   high      DOUBLE   upper end of its interval

with answer as (
    select
        target.frequent,
        case when anonymity.found then anonymity.k end as k,
        anonymity.pick_chance::decimal(18, 15) as risk
    from metrics.target as target
    join metrics.anonymity as anonymity on anonymity.risk_id = target.risk_id and anonymity.trace = target.trace
    where target.risk_id = $risk_id
),

member as (
    select 'all' as scope, k, risk
    from answer
    union all
    select 'frequent' as scope, k, risk
    from answer
    where frequent
    union all
    select
        'frequent_of_all' as scope,
        case when frequent then k end as k,
        case when frequent then risk else 0 end as risk
    from answer
    where (select count(*) from answer where frequent) > 0
),

crowd as (
    select scope, k, risk, count(*) as people
    from member
    group by scope, k, risk
),

population as (
    select scope, sum(people)::bigint as people, ((sum(people) + 9) // 10)::bigint as tenth
    from crowd
    group by scope
),

ordered as (
    select
        scope,
        k,
        risk,
        people,
        sum(people) over (partition by scope order by k nulls last, risk rows unbounded preceding) as up_to_k,
        sum(people) over (partition by scope order by risk desc, k rows unbounded preceding) as riskiest
    from crowd
),

share as (
    select
        population.scope,
        level.metric,
        level.level,
        population.people,
        sum(case when crowd.k <= level.level then crowd.people else 0 end)
            / max(population.people)::double as estimate
    from population
    join crowd on crowd.scope = population.scope
    cross join (
        select 'at_most_k' as metric, unnest([1, 2, 5, 10, 20, 50, 100]) as level
        union all
        select 'unique_share' as metric, 1 as level
    ) as level
    group by population.scope, level.metric, level.level, population.people
),

wilson as (
    select
        scope,
        metric,
        level,
        people,
        estimate,
        (estimate + 1.9208 / people) / (1 + 3.8416 / people) as middle,
        1.96 * sqrt(estimate * (1 - estimate) / people + 0.9604 / people / people) / (1 + 3.8416 / people) as half
    from share
),

percentile as (
    select
        population.scope,
        population.people,
        level.level,
        population.people * level.level / 100.0 as middle,
        1.96 * sqrt(population.people * (level.level / 100.0) * (1 - level.level / 100.0)) as half
    from population
    cross join (select unnest([1, 5, 10, 50]) as level) as level
),

rank as (
    select
        scope,
        people,
        level,
        (people * level + 99) // 100 as estimate,
        greatest(floor(middle - half), 1) as low,
        least(ceil(middle + half), people) as high
    from percentile
),

k_at_rank as (
    select
        rank.scope,
        rank.people,
        rank.level,
        min(ordered.k) filter (where ordered.up_to_k >= rank.estimate) as estimate,
        min(ordered.k) filter (where ordered.up_to_k >= rank.low) as low,
        min(ordered.k) filter (where ordered.up_to_k >= rank.high) as high
    from rank
    join ordered on ordered.scope = rank.scope
    group by rank.scope, rank.people, rank.level
),

worst as (
    select ordered.scope, max(ordered.risk) filter (where ordered.riskiest >= population.tenth) as least_risk
    from ordered
    join population on population.scope = ordered.scope
    group by ordered.scope
),

above_the_rest as (
    select crowd.scope, crowd.people, crowd.risk, worst.least_risk, greatest(crowd.risk - worst.least_risk, 0) as excess
    from crowd
    join worst on worst.scope = crowd.scope
),

moment as (
    select
        population.scope,
        population.people,
        population.tenth / population.people::double as part,
        max(rest.least_risk)::double as least_risk,
        sum(rest.people * rest.risk)::double / population.people as mean,
        sum(rest.people * (rest.risk * rest.risk)::decimal(18, 15))::double / population.people as mean_square,
        sum(rest.people * rest.excess)::double / population.people as excess,
        sum(rest.people * (rest.excess * rest.excess)::decimal(18, 15))::double / population.people as excess_square
    from population
    join above_the_rest as rest on rest.scope = population.scope
    group by population.scope, population.people, population.tenth
),

mean as (
    select
        scope,
        'mean_risk' as metric,
        100 as level,
        people,
        mean as estimate,
        1.96 * sqrt(greatest(mean_square - mean * mean, 0) / people) as half
    from moment
    union all
    select
        scope,
        'worst_decile_risk' as metric,
        10 as level,
        people,
        least_risk + excess / part as estimate,
        1.96 * sqrt(greatest(excess_square - excess * excess, 0) / people) / part as half
    from moment
)

select
    $risk_id as risk_id,
    scope,
    metric,
    level,
    $about as about,
    people,
    estimate,
    greatest(least(middle - half, estimate), 0) as low,
    least(greatest(middle + half, estimate), 1) as high
from wilson
union all
select
    $risk_id as risk_id,
    scope,
    'k_percentile' as metric,
    level,
    $about as about,
    people,
    estimate::double as estimate,
    low::double as low,
    high::double as high
from k_at_rank
union all
select
    $risk_id as risk_id,
    scope,
    metric,
    level,
    $about as about,
    people,
    estimate,
    greatest(estimate - half, 0) as low,
    least(estimate + half, 1) as high
from mean
