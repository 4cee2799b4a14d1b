-- metrics._few_behind: listed counts of a release that fewer different people than $least are behind.
--
-- reads:   counts.occupancy, slots.position
-- params:  release_id, unprotected_id, least
-- columns:
--   value         VARCHAR  null: these are counts of everybody
--   slot          INTEGER  slot of the release
--   cell          UBIGINT  the cell, see grid.cell
--   listed        VARCHAR  the number as it is published
--   contributors  BIGINT   different people in the cell during the slot

with behind as (
    select slot, cell, count(distinct person) as contributors
    from slots.position
    where release_id = $unprotected_id
    group by slot, cell
)

select
    null::varchar as value,
    occupancy.slot,
    occupancy.cell,
    occupancy.people::varchar as listed,
    coalesce(behind.contributors, 0) as contributors
from counts.occupancy as occupancy
left join behind on behind.slot = occupancy.slot and behind.cell = occupancy.cell
where occupancy.release_id = $release_id and coalesce(behind.contributors, 0) < $least
order by occupancy.slot, occupancy.cell
