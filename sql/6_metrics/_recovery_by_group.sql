-- metrics._recovery_by_group: mean accuracy of a run for the people of each group.
--
-- reads:   metrics.person_recovery, records.trait
-- params:  run_id, pairing
-- columns:
--   trait     VARCHAR  what the group has in common, see records.trait
--   value     VARCHAR  its value
--   people    BIGINT   people of the group
--   estimate  DOUBLE   their mean accuracy

select
    trait.trait,
    trait.value,
    count(*) as people,
    sum(recovered.accuracy::decimal(18, 15))::double / count(*) as estimate
from metrics.person_recovery as recovered
join records.trait as trait on trait.person = recovered.person
where recovered.run_id = $run_id and recovered.pairing = $pairing
group by trait.trait, trait.value
order by trait.trait, trait.value
