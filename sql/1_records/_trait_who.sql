-- records._trait_who: the people of a table of traits, and who of them has records.
--
-- trait_rows is the table as it is read: a uid in each row, and its traits.
--
-- reads:   trait_rows, records.person
-- params:  none
-- columns:
--   uid     VARCHAR  whom the row is about; null where it does not say
--   person  INTEGER  the same person in the lab; null where there is none

select nullif(trim(given.uid), '') as uid, person.person
from trait_rows as given
left join records.person as person on person.uid = nullif(trim(given.uid), '')
