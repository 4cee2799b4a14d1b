-- counts.flow: how many people go from one cell to another between a slot and the next.
--
-- People who stay where they are count too, with origin and destination the same.
-- A flow of fewer than $min_count people is left out, not set to zero.
--
-- grain:   release_id, slot, origin, destination
-- reads:   slots.position
-- params:  release_id, min_count
-- shards by: release_id
-- merge:   sum(people) >= $min_count
-- publish: yes
-- columns:
--   release_id   VARCHAR  which release these counts belong to
--   slot         INTEGER  slot in which they are at the origin; they are at the destination in the next
--   origin       UBIGINT  cell id, meaningful with grid.cell
--   destination  UBIGINT  cell id, meaningful with grid.cell
--   people       BIGINT   people who make this move

with move as (
    select
        slot,
        cell as origin,
        lead(cell) over in_time as destination,
        lead(slot) over in_time as next_slot
    from slots.position
    where release_id = $release_id
    window in_time as (partition by person order by slot)
),

people_on_the_way as (
    select slot, origin, destination, count(*) as people
    from move
    where next_slot = slot + 1
    group by slot, origin, destination
)

select $release_id as release_id, slot, origin, destination, people
from people_on_the_way
where people >= $min_count
