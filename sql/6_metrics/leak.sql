-- metrics.leak: how much of people's schedules anonymity sets give away, by the least size of a set (ma2017, figure 4).
--
-- People in sets smaller than min_k are left out, and `measured` says how many stay. Sizes are 2, 4, 8 and so on
-- up to 64, and the one asked for.
-- Metrics:
--   measured            share of all people looked for who are in sets of min_k or more
--   totally_disclosed   share of those whose every habit is sensitive, see metrics.person_leak
--   partly_disclosed    share with some but not all of them sensitive
--   hidden              share with habits of which none is sensitive
--   nothing             share without habits
--   prob_m              mean of the max attack probability
--   prob_m_above_0.8    share of people with more than 0.8
--   ssr, ntr, ssr_ntr   means of the rates; ssr_ntr over people with habits
--   schedules           mean of the different whole schedules in a person's set (distinct l)
--   effective           mean of the same as entropy l
--   alike               share in sets where all have the same schedule (distinct l of 1)
-- Intervals are 95 %: Wilson's for shares, normal for means, those of rates cut at 0 and 1.
--
-- grain:   leak_id, min_k, metric
-- reads:   metrics.person_leak
-- params:  leak_id, asked_k
-- shards by: leak_id
-- columns:
--   leak_id   VARCHAR  the question, see study.leak
--   min_k     INTEGER  least size of a set
--   metric    VARCHAR  what is measured, see above
--   people    BIGINT   people it is measured over
--   estimate  DOUBLE   the value; null over nobody
--   low       DOUBLE   lower end of its interval
--   high      DOUBLE   upper end of its interval

with size as (
    select unnest([2, 4, 8, 16, 32, 64]) as min_k
    union
    select $asked_k as min_k
),

member as (
    select size.min_k, person.*
    from size
    join metrics.person_leak as person on person.leak_id = $leak_id
),

share as (
    select min_k, 'measured' as metric, case when k >= min_k and disclosed is not null then 1 else 0 end as flag
    from member
    union all
    select
        member.min_k,
        kind.metric,
        case kind.metric
            when 'totally_disclosed' then case when disclosed = 'totally' then 1 else 0 end
            when 'partly_disclosed' then case when disclosed = 'partly' then 1 else 0 end
            when 'hidden' then case when disclosed = 'hidden' then 1 else 0 end
            when 'nothing' then case when disclosed = 'nothing' then 1 else 0 end
            when 'prob_m_above_0.8' then case when prob_m > 0.8 then 1 else 0 end
            else case when schedules = 1 then 1 else 0 end
        end as flag
    from member
    cross join (
        select unnest([
            'totally_disclosed', 'partly_disclosed', 'hidden', 'nothing', 'prob_m_above_0.8', 'alike'
        ]) as metric
    ) as kind
    where member.k >= member.min_k and member.disclosed is not null
),

counted_share as (
    select min_k, metric, count(*) as people, sum(flag) / count(*)::double as estimate
    from share
    group by min_k, metric
),

value as (
    select
        member.min_k,
        kind.metric,
        (case kind.metric
            when 'prob_m' then prob_m
            when 'ssr' then ssr
            when 'ntr' then ntr
            when 'ssr_ntr' then ssr_ntr
            when 'schedules' then schedules
            else effective
        end)::decimal(24, 15) as value
    from member
    cross join (select unnest(['prob_m', 'ssr', 'ntr', 'ssr_ntr', 'schedules', 'effective']) as metric) as kind
    where member.k >= member.min_k and member.disclosed is not null
),

moment as (
    select
        min_k,
        metric,
        count(value) as people,
        sum(value)::double / nullif(count(value), 0) as mean,
        sum((value::double * value::double)::decimal(38, 15))::double / nullif(count(value), 0) as mean_square
    from value
    group by min_k, metric
),

normal as (
    select
        min_k, metric, people, mean as estimate, 1.96 * sqrt(greatest(mean_square - mean * mean, 0) / people) as half
    from moment
),

every_metric as (
    select
        min_k, metric, people, estimate, wilson_low(estimate, people) as low, wilson_high(estimate, people) as high
    from counted_share
    union all
    select min_k, metric, people, estimate, estimate - half as low, estimate + half as high
    from normal
)

select
    $leak_id as leak_id,
    min_k,
    metric,
    people,
    estimate,
    greatest(least(low, estimate), 0) as low,
    case when metric in ('schedules', 'effective') then high else least(greatest(high, estimate), 1) end as high
from every_metric
