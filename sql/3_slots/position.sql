-- slots.position: where each person of a release is in each slot: the truth behind the counts.
--
-- Slots without records are filled as the release says. static: the last known cell is
-- repeated, and before the first record the first known cell (dsilva2024, section IV-C).
-- linear: what slots.interpolated adds, and static before the first and after the last
-- record. none: left out.
--
-- grain:   release_id, person, slot
-- reads:   slots.observed, slots.person, slots.interpolated
-- params:  release_id, slots, fill
-- shards by: person
-- columns:
--   release_id  VARCHAR  the release
--   person      INTEGER  the person, see records.person
--   slot        INTEGER  slot of the release, from 0
--   cell        UBIGINT  the cell, see grid.cell
--   observed    BOOLEAN  whether records say so; false where the slot was filled

with known as (
    select observed.person, observed.slot - person.first_slot as slot, observed.cell, true as observed
    from slots.observed as observed
    join slots.person as person
        on person.release_id = $release_id and person.person = observed.person and person.kept
    where
        observed.release_id = $release_id
        and observed.slot >= person.first_slot
        and observed.slot < person.first_slot + $slots
    union all
    select person, slot, cell, false as observed
    from slots.interpolated
    where release_id = $release_id
),

until_the_next as (
    select
        person,
        slot,
        cell,
        observed,
        lag(slot) over in_time is null as is_first,
        lead(slot, 1, $slots) over in_time as next_slot
    from known
    window in_time as (partition by person order by slot)
),

filled as (
    select
        person,
        slot as known_slot,
        unnest(case
            when $fill = 'none' then range(slot::bigint, slot::bigint + 1)
            when is_first then range(0::bigint, next_slot::bigint)
            else range(slot::bigint, next_slot::bigint)
        end) as slot,
        cell,
        observed
    from until_the_next
)

select
    $release_id as release_id,
    person,
    slot::integer as slot,
    cell,
    observed and slot = known_slot as observed
from filled
