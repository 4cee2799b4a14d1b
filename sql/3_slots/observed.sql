-- slots.observed: where each person was in each slot that has records of them.
--
-- The cell with most records in the slot wins; among equals the one seen first, then
-- the smaller id, so that the answer never depends on the order of the rows
-- (xu2017, section 5.1). A release of one group of people has observed its members alone: those
-- with $group_value in $grouping_id, which is null for a release of everybody.
--
-- grain:   release_id, person, slot
-- reads:   grid.fix, slots.clock, slots.member
-- params:  release_id, index_id, tick_seconds, grouping_id, group_value
-- shards by: person
-- columns:
--   release_id  VARCHAR  the release
--   person      INTEGER  the person, see records.person
--   slot        INTEGER  slots since the start of the recorded period, from 0
--   cell        UBIGINT  the cell, see grid.cell
--   records     BIGINT   records of the person in that cell during the slot

with visit as (
    select fix.person, clock.slot, fix.cell, count(*) as records, min(fix.ts) as first_seen
    from grid.fix as fix
    join slots.clock as clock
        on clock.release_id = $release_id
        and clock.tick = floor(epoch(fix.ts) / $tick_seconds)::bigint
    where
        fix.index_id = $index_id
        and (
            $grouping_id is null
            or fix.person in (
                select person from slots.member where grouping_id = $grouping_id and value = $group_value
            )
        )
    group by fix.person, clock.slot, fix.cell
),

most_visited as (
    select person, slot, cell, records
    from visit
    qualify row_number() over (partition by person, slot order by records desc, first_seen, cell) = 1
)

select $release_id as release_id, person, slot, cell, records
from most_visited
