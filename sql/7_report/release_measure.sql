-- report.release_measure: the main answers about each release, a row each, to lay releases side by side.
--
-- How often somebody is alone in its counts, what suppression hides, and of every attack, adversary and test of
-- membership the one number that is about everybody and the whole period; see report.every_metric for all others.
-- What was asked with several seeds or settings has the mean of these, and the widest interval. Questions of traces that
-- `protect` made are left out: they are about something else than the release.
--
-- grain:   release_id, measure, asked
-- reads:   report.summary, report.every_metric, study.risk, study.traces
-- shards by: none
-- view:    yes
-- columns:
--   release_id  VARCHAR  the release
--   rank        INTEGER  place among the measures: counts, recovery, risk, membership, errors
--   measure     VARCHAR  alone, hidden (report.summary), accuracy, unique_share, auc or relative_error
--     (report.every_metric)
--   asked       VARCHAR  the attack, the adversary, or the adversary and the tracks searched; empty for counts
--   about       VARCHAR  traces where true ones are searched, table where it is about what is published
--   estimate    DOUBLE   the answer
--   low         DOUBLE   lower end of its 95 % interval, where it has one
--   high        DOUBLE   upper end of its 95 % interval, where it has one

with protected as (
    select asked.risk_id
    from study.risk as asked
    join study.traces as searched on searched.traces_id = asked.searched_id
    where searched.protection <> 'none'
),

scored as (
    select *
    from report.every_metric
    where (result = 'recovery' and of = 'recovered' and metric = 'accuracy' and level = 3)
        or (result = 'risk' and scope = 'all' and metric = 'unique_share'
            and result_id not in (select risk_id from protected))
        or (result = 'membership' and metric = 'auc')
        or (result = 'counts' and scope = 'occupancy' and metric = 'relative_error' and compared_id <> release_id)
),

best_pairing as (
    select *
    from scored
    qualify row_number() over (
        partition by result, result_id, compared_id, scope, level, recipe order by pairing desc
    ) = 1
),

named as (
    select
        release_id,
        case result when 'recovery' then 3 when 'risk' then 4 when 'membership' then 5 else 6 end as rank,
        metric as measure,
        case
            when result = 'recovery' then attack
            when searched_run_id is not null then adversary || ' in recovered tracks'
            when result = 'membership' then adversary || ', groups of ' || level
            else coalesce(adversary, '')
        end as asked,
        about,
        estimate,
        low,
        high
    from best_pairing
)

select release_id, 1 as rank, 'alone' as measure, '' as asked, 'table' as about, alone as estimate, null::double as low,
    null::double as high
from report.summary
union all
select release_id, 2 as rank, 'hidden' as measure, '' as asked, 'table' as about, hidden as estimate,
    null::double as low, null::double as high
from report.summary
union all
select release_id, rank, measure, asked, about, avg(estimate) as estimate, min(low) as low, max(high) as high
from named
where release_id is not null
group by release_id, rank, measure, asked, about
