-- metrics._control_visit: where people who are not in a release were in its slots, as far as records say.
--
-- reads:   slots.observed, slots.person
-- params:  release_id, people, slots
-- columns:
--   person  INTEGER  the person, see records.person
--   slot    INTEGER  slot of the release, from 0
--   cell    UBIGINT  the cell, see grid.cell

select observed.person, (observed.slot - person.first_slot)::integer as slot, observed.cell
from slots.observed as observed
join slots.person as person
    on person.release_id = $release_id and person.person = observed.person
where
    observed.release_id = $release_id
    and observed.person in (select unnest($people))
    and observed.slot >= person.first_slot
    and observed.slot < person.first_slot + $slots
