-- metrics._true_cube: how many people of each group are in each cell during each slot, nothing left out.
--
-- reads:   slots.position, slots.member
-- params:  release_id, grouping_id
-- columns:
--   slot    INTEGER  slot of the release
--   value   VARCHAR  the group
--   cell    UBIGINT  the cell, see grid.cell
--   people  BIGINT   different people of the group

select position.slot, member.value, position.cell, count(*) as people
from slots.position as position
join slots.member as member on member.grouping_id = $grouping_id and member.person = position.person
where position.release_id = $release_id
group by position.slot, member.value, position.cell
