-- counts.cube: how many people of each group are in each cell during each slot.
--
-- Place by hour by home area is what statistical offices publish. A count of fewer than $min_count different people
-- is left out, whatever they weigh: one person who stands for five is one. Summed over the groups, the
-- counts of a cube that leaves nothing out are counts.occupancy.
--
-- grain:   cube_id, value, slot, cell
-- reads:   slots.position, slots.member, records.trait
-- params:  cube_id, release_id, grouping_id, attribute, weights, min_count
-- shards by: slot
-- publish: yes
-- columns:
--   cube_id     VARCHAR  the cube, see study.cube
--   release_id  VARCHAR  the release whose people are divided
--   attribute   VARCHAR  what people are divided by: home:<index>, or a column of the people table
--   value       VARCHAR  the group: the home area, or the value of the column; unknown where there is none
--   slot        INTEGER  slot of the release, from 0
--   cell        UBIGINT  cell id, meaningful with grid.cell
--   people      BIGINT   different people of the group in the cell during the slot
--   weighted    DOUBLE   sum of their weights, to a millionth each; null where none were asked for

with numbered as (
    select value, row_number() over (order by value) as number
    from (select distinct value from slots.member where grouping_id = $grouping_id)
),

member as (
    select
        member.person,
        numbered.number::integer as number,
        try_cast(weight.value as decimal(18, 6)) as weight
    from slots.member as member
    join numbered on numbered.value = member.value
    left join records.trait as weight on weight.person = member.person and weight.trait = $weights
    where member.grouping_id = $grouping_id
),

people_in_cell as (
    select
        member.number,
        position.slot,
        position.cell,
        count(*) as people,
        sum(member.weight)::double as weighted
    from slots.position as position
    join member on member.person = position.person
    where position.release_id = $release_id
    group by member.number, position.slot, position.cell
)

select
    $cube_id as cube_id,
    $release_id as release_id,
    $attribute as attribute,
    numbered.value,
    people_in_cell.slot,
    people_in_cell.cell,
    people_in_cell.people,
    people_in_cell.weighted
from people_in_cell
join numbered on numbered.number = people_in_cell.number
where people_in_cell.people >= $min_count
