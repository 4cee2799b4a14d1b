-- slots._trait_of_person: the value of one column of the people table, for everybody in a release.
--
-- reads:   slots.person, records.trait
-- params:  release_id, trait
-- columns:
--   person  INTEGER  the person
--   value   VARCHAR  the value; null where there is none

select person.person, trait.value
from slots.person as person
left join records.trait as trait on trait.person = person.person and trait.trait = $trait
where person.release_id = $release_id and person.kept
order by person.person
