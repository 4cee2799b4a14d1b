-- metrics.leak_curve: how people are distributed over the measures of schedule leakage (ma2017, figures 3 and 4).
--
-- Cumulative: how many people have a value or a smaller one. Rates are given in steps of 0.01, rounded up, so that a
-- share is exactly that of people with no more than the value; k, the size of the set, and schedules as they are.
--
-- grain:   leak_id, min_k, metric, threshold
-- reads:   metrics.person_leak
-- params:  leak_id, asked_k
-- shards by: leak_id
-- columns:
--   leak_id    VARCHAR  the question, see study.leak
--   min_k      INTEGER  least size of a set, see metrics.leak
--   metric     VARCHAR  k, prob_m, ssr, ntr, ssr_ntr or schedules, see metrics.person_leak
--   threshold  DOUBLE   a value of the metric
--   people     BIGINT   people with it: more than the step before, and no more than this
--   at_most    BIGINT   people with it or a smaller one
--   share      DOUBLE   at_most / people measured

with size as (
    select unnest([2, 4, 8, 16, 32, 64]) as min_k
    union
    select $asked_k as min_k
),

measured as (
    select size.min_k, person.k, person.prob_m, person.ssr, person.ntr, person.ssr_ntr, person.schedules
    from metrics.person_leak as person
    join size on person.k >= size.min_k
    where person.leak_id = $leak_id and person.disclosed is not null
),

value as (
    select min_k, 'k' as metric, k::double as threshold from measured
    union all
    select min_k, 'schedules' as metric, schedules::double as threshold from measured
    union all
    select min_k, 'prob_m' as metric, ceil(round(prob_m * 100, 9)) / 100 as threshold from measured
    union all
    select min_k, 'ssr' as metric, ceil(round(ssr * 100, 9)) / 100 as threshold from measured
    union all
    select min_k, 'ntr' as metric, ceil(round(ntr * 100, 9)) / 100 as threshold from measured
    union all
    select min_k, 'ssr_ntr' as metric, ceil(round(ssr_ntr * 100, 9)) / 100 as threshold
    from measured
    where ssr_ntr is not null
),

counted as (
    select min_k, metric, threshold, count(*) as people
    from value
    group by min_k, metric, threshold
),

running as (
    select
        min_k,
        metric,
        threshold,
        people,
        sum(people) over (partition by min_k, metric order by threshold)::bigint as at_most,
        sum(people) over (partition by min_k, metric) as everybody
    from counted
)

select $leak_id as leak_id, min_k, metric, threshold, people, at_most, at_most / everybody::double as share
from running
