-- records._person_numbers: everybody in the sources with their number, or the reason why they have none.
--
-- reads:   ingest_name, records.person
-- params:  none
-- columns:
--   uid        ANY      the person as the input says it
--   uid_fault  VARCHAR  why rows about the person are refused; null where they are not
--   person     INTEGER  the number; null where rows are refused

select named.uid, named.uid_fault, person.person
from ingest_name as named
left join records.person as person on person.uid = named.name and named.uid_fault is null
