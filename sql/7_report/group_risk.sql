-- report.group_risk: how exposed the people of each group are, and how many different people that is about.
--
-- Where traces are protected, each piece of a person counts as one: `persons` says how many people the pieces are of,
-- so that a page can leave out groups of so few that it would tell of single people. See metrics.risk_by_group.
--
-- grain:   risk_id, trait, value
-- reads:   metrics.risk_by_group, metrics.target, records.trait
-- shards by: risk_id
-- view:    yes
-- columns:
--   risk_id            VARCHAR  the question, see study.risk
--   trait              VARCHAR  what the group has in common, see records.trait
--   value              VARCHAR  its value
--   persons            BIGINT   different people of the group who were looked for
--   people             BIGINT   people of the group, or pieces of their traces, who were looked for
--   unique_share       DOUBLE   share of them singled out
--   low                DOUBLE   lower end of its interval
--   high               DOUBLE   upper end of its interval
--   mean_risk          DOUBLE   mean of the chance to pick the right trace
--   worst_decile_risk  DOUBLE   the same over the tenth of the group, rounded up, with the highest
--   median_k           BIGINT   the k that half the group do not exceed; null where that many are not at risk

with looked_for as (
    select target.risk_id, trait.trait, trait.value, count(distinct target.person) as persons
    from metrics.target as target
    join records.trait as trait on trait.person = target.person
    group by target.risk_id, trait.trait, trait.value
)

select
    risk.risk_id,
    risk.trait,
    risk.value,
    looked_for.persons,
    risk.people,
    risk.unique_share,
    risk.low,
    risk.high,
    risk.mean_risk,
    risk.worst_decile_risk,
    risk.median_k
from metrics.risk_by_group as risk
join looked_for
    on looked_for.risk_id = risk.risk_id and looked_for.trait = risk.trait and looked_for.value = risk.value
