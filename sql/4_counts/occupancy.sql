-- counts.occupancy: how many people are in each cell during each slot.
--
-- This is the table an operator would publish, and all that an attack on counts sees.
-- A cell with fewer than $min_count people is left out, not set to zero: with min_count
-- above one, a missing row means "too few to say, or nobody".
--
-- grain:   release_id, slot, cell
-- reads:   slots.position
-- params:  release_id, min_count
-- shards by: slot
-- merge:   sum(people) >= $min_count
-- publish: yes
-- columns:
--   release_id  VARCHAR  which release these counts belong to
--   slot        INTEGER  slot of the release, from 0
--   cell        UBIGINT  cell id, meaningful with grid.cell
--   people      BIGINT   distinct people in the cell during the slot

with people_in_cell as (
    select slot, cell, count(*) as people
    from slots.position
    where release_id = $release_id
    group by slot, cell
),

large_enough_to_publish as (
    select slot, cell, people
    from people_in_cell
    where people >= $min_count
)

select $release_id as release_id, slot, cell, people
from large_enough_to_publish
