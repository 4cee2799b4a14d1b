-- report.frequent_by_group: how unique frequent people are, group by group.
--
-- Groups are those of `lab.people`; metrics.risk_by_group is about everybody.
--
-- grain:   risk_id, trait, value
-- reads:   records.trait, metrics.anonymity, metrics.target
-- shards by: risk_id
-- view:    yes
-- columns:
--   risk_id          VARCHAR  the question, see report.adversary
--   trait            VARCHAR  column of the people table
--   value            VARCHAR  the group
--   frequent_people  BIGINT   frequent people of the group
--   unique_share     DOUBLE   share of them that are unique

select
    target.risk_id,
    trait.trait,
    trait.value,
    count(*) as frequent_people,
    avg(case when answer.k = 1 then 1.0 else 0.0 end) as unique_share
from metrics.target as target
join metrics.anonymity as answer using (risk_id, trace)
join records.trait as trait using (person)
where target.frequent
group by target.risk_id, trait.trait, trait.value
