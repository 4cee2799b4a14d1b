-- metrics._few_behind_cube: listed counts of a cube that fewer different people than $least are behind.
--
-- What is listed is the weighted number where there is one: one person who stands for five is one.
--
-- reads:   counts.cube, slots.position, slots.member
-- params:  cube_id, unprotected_id, grouping_id, least
-- columns:
--   value         VARCHAR  the group
--   slot          INTEGER  slot of the release
--   cell          UBIGINT  the cell, see grid.cell
--   listed        VARCHAR  the number as it is published, weighted where it is
--   contributors  BIGINT   different people of the group in the cell during the slot

with behind as (
    select member.value, position.slot, position.cell, count(distinct position.person) as contributors
    from slots.position as position
    join slots.member as member on member.grouping_id = $grouping_id and member.person = position.person
    where position.release_id = $unprotected_id
    group by member.value, position.slot, position.cell
)

select
    cube.value,
    cube.slot,
    cube.cell,
    coalesce(cube.weighted::varchar, cube.people::varchar) as listed,
    coalesce(behind.contributors, 0) as contributors
from counts.cube as cube
left join behind on behind.value = cube.value and behind.slot = cube.slot and behind.cell = cube.cell
where cube.cube_id = $cube_id and coalesce(behind.contributors, 0) < $least
order by cube.value, cube.slot, cube.cell
