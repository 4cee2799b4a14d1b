-- metrics._control_person: people who are not in a release and are covered as well as the least covered who is.
--
-- reads:   slots.person
-- params:  release_id
-- columns:
--   person  INTEGER  the person, see records.person

select person
from slots.person
where
    release_id = $release_id
    and not kept
    and coverage >= (select min(coverage) from slots.person where release_id = $release_id and kept)
order by person
