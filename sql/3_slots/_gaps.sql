-- slots._gaps: stretches between two slots with records of a person, and where the person was at both ends.
--
-- reads:   slots.observed, slots.person, grid.cell
-- params:  release_id, index_id, slots
-- columns:
--   person     INTEGER  the person
--   slot       INTEGER  the last slot with records before the gap
--   cell       UBIGINT  the cell then
--   next_cell  UBIGINT  the cell after the gap
--   x          DOUBLE   metres east of the centre of the index, before the gap
--   y          DOUBLE   metres north of it
--   next_x     DOUBLE   metres east after the gap
--   next_y     DOUBLE   metres north after the gap
--   missing    INTEGER  slots without records between the two

with known as (
    select
        observed.person,
        observed.slot - person.first_slot as slot,
        cell.cell,
        cell.x,
        cell.y,
        lead(cell.cell) over in_time as next_cell,
        lead(observed.slot - person.first_slot) over in_time as next_slot,
        lead(cell.x) over in_time as next_x,
        lead(cell.y) over in_time as next_y
    from slots.observed as observed
    join slots.person as person
        on person.release_id = $release_id and person.person = observed.person and person.kept
    join grid.cell as cell on cell.index_id = $index_id and cell.cell = observed.cell
    where
        observed.release_id = $release_id
        and observed.slot >= person.first_slot
        and observed.slot < person.first_slot + $slots
    window in_time as (partition by observed.person order by observed.slot)
)

select person, slot, cell, next_cell, x, y, next_x, next_y, next_slot - slot - 1 as missing
from known
where next_slot - slot > 1
order by person, slot
