-- metrics.risk_by_group: how exposed the people of each group are, the worst tenth beside the mean.
--
-- A group is everybody looked for who has the same value of a trait. People at risk in no crowd, see
-- metrics.risk, stay in the denominator with a risk of 0. The interval is Wilson's, 95 %.
--
-- grain:   risk_id, trait, value
-- reads:   metrics.target, metrics.anonymity, records.trait
-- params:  risk_id
-- shards by: risk_id
-- columns:
--   risk_id            VARCHAR  the question, see study.risk
--   trait              VARCHAR  what the group has in common, see records.trait
--   value              VARCHAR  its value
--   people             BIGINT   people of the group who were looked for
--   unique_share       DOUBLE   share of them singled out
--   low                DOUBLE   lower end of its interval
--   high               DOUBLE   upper end of its interval
--   mean_risk          DOUBLE   mean of the chance to pick the right trace
--   worst_decile_risk  DOUBLE   the same over the tenth of the group, rounded up, with the highest
--   median_k           BIGINT   the k that half the group do not exceed; null where that many are not at risk

with member as (
    select
        trait.trait,
        trait.value,
        case when anonymity.found then anonymity.k end as k,
        anonymity.pick_chance::decimal(18, 15) as risk
    from metrics.target as target
    join metrics.anonymity as anonymity on anonymity.risk_id = target.risk_id and anonymity.trace = target.trace
    join records.trait as trait on trait.person = target.person
    where target.risk_id = $risk_id
),

ordered as (
    select
        trait,
        value,
        k,
        risk,
        row_number() over (partition by trait, value order by k nulls last) as rank,
        row_number() over (partition by trait, value order by risk desc) as riskiest,
        count(*) over (partition by trait, value) as people
    from member
),

summary as (
    select
        trait,
        value,
        people,
        sum(case when k = 1 then 1 else 0 end) / people::double as unique_share,
        sum(risk)::double / people as mean_risk,
        sum(case when riskiest <= (people + 9) // 10 then risk else 0 end)::double
            / ((people + 9) // 10) as worst_decile_risk,
        max(case when rank = (people + 1) // 2 then k end) as median_k
    from ordered
    group by trait, value, people
),

wilson as (
    select
        trait,
        value,
        (unique_share + 1.9208 / people) / (1 + 3.8416 / people) as middle,
        1.96 * sqrt(unique_share * (1 - unique_share) / people + 0.9604 / people / people)
            / (1 + 3.8416 / people) as half
    from summary
)

select
    $risk_id as risk_id,
    trait,
    value,
    people,
    unique_share,
    greatest(least(middle - half, unique_share), 0) as low,
    least(greatest(middle + half, unique_share), 1) as high,
    mean_risk,
    worst_decile_risk,
    median_k
from summary
join wilson using (trait, value)
