-- slots._other_people: how many people, or days of them, only one of two releases has.
--
-- reads:   slots.person, counts.release
-- params:  before_id, after_id
-- columns:
--   only_before  BIGINT  people or days that only the first has
--   only_after   BIGINT  people or days that only the second has

with kept as (
    select person.release_id, person.person, person.first_slot * release.slot_seconds as starts
    from slots.person as person
    join counts.release as release on release.release_id = person.release_id
    where person.kept
)

select
    count(*) filter (other.person is null) as only_before,
    count(*) filter (one.person is null) as only_after
from (select * from kept where release_id = $before_id) as one
full join (select * from kept where release_id = $after_id) as other
    on other.person = one.person and other.starts = one.starts
