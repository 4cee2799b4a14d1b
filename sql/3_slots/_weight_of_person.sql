-- slots._weight_of_person: how many people each person of a release stands for, by a column of the people table.
--
-- reads:   slots.person, records.trait
-- params:  release_id, trait
-- columns:
--   person  INTEGER        the person
--   value   VARCHAR        the value as it was given; null where there is none
--   number  DOUBLE         the number that it is; null where it is none
--   weight  DECIMAL(18,6)  the number to a millionth, as sums are made of; null where it is none, or too large

select
    person.person,
    trait.value,
    try_cast(trait.value as double) as number,
    try_cast(trait.value as decimal(18, 6)) as weight
from slots.person as person
left join records.trait as trait on trait.person = person.person and trait.trait = $trait
where person.release_id = $release_id and person.kept
order by person.person
