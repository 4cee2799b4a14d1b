-- records._trait_given: the values of one trait, of people who have records.
--
-- trait_rows is the table as it is read, with the trait as its column `value`. Empty values are none.
--
-- reads:   trait_rows, records.person
-- params:  trait
-- columns:
--   person  INTEGER  the person
--   trait   VARCHAR  name of the trait
--   value   VARCHAR  its value

select person.person, $trait as trait, trim(given.value) as value
from trait_rows as given
join records.person as person on person.uid = trim(given.uid)
where trim(given.value) <> ''
