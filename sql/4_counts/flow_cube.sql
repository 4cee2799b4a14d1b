-- counts.flow_cube: how many people of each group go from one cell to another between a slot and the next.
--
-- People who stay where they are count too. A flow of fewer than $min_count different people is left out, whatever
-- they weigh. Summed over the groups, the flows of a cube that leaves nothing out are counts.flow.
--
-- grain:   cube_id, value, slot, origin, destination
-- reads:   slots.position, slots.member, records.trait
-- params:  cube_id, release_id, grouping_id, attribute, weights, min_count
-- shards by: release_id
-- publish: yes
-- columns:
--   cube_id      VARCHAR  the cube, see study.cube
--   release_id   VARCHAR  the release whose people are divided
--   attribute    VARCHAR  what people are divided by: home:<index>, or a column of the people table
--   value        VARCHAR  the group: the home area, or the value of the column; unknown where there is none
--   slot         INTEGER  slot in which they are at the origin; they are at the destination in the next
--   origin       UBIGINT  cell id, meaningful with grid.cell
--   destination  UBIGINT  cell id, meaningful with grid.cell
--   people       BIGINT   different people of the group who make this move
--   weighted     DOUBLE   sum of their weights, to a millionth each; null where none were asked for

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

move as (
    select
        person,
        slot,
        cell as origin,
        lead(cell) over in_time as destination,
        lead(slot) over in_time as next_slot
    from slots.position
    where release_id = $release_id
    window in_time as (partition by person order by slot)
),

people_on_the_way as (
    select
        member.number,
        move.slot,
        move.origin,
        move.destination,
        count(*) as people,
        sum(member.weight)::double as weighted
    from move
    join member on member.person = move.person
    where move.next_slot = move.slot + 1
    group by member.number, move.slot, move.origin, move.destination
)

select
    $cube_id as cube_id,
    $release_id as release_id,
    $attribute as attribute,
    numbered.value,
    people_on_the_way.slot,
    people_on_the_way.origin,
    people_on_the_way.destination,
    people_on_the_way.people,
    people_on_the_way.weighted
from people_on_the_way
join numbered on numbered.number = people_on_the_way.number
where people_on_the_way.people >= $min_count
