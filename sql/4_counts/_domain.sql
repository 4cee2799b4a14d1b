-- counts._domain: the cells of a release, those included where nobody of it was, and the larger cells they are in.
--
-- Every cell in which anybody of the lab has a record, and those that filling in added to this release. Cells
-- that later releases added to the same index are not among them.
--
-- reads:   counts.release, grid.fix, grid.cell, counts.occupancy
-- params:  release_id
-- columns:
--   cell         UBIGINT  the cell, see grid.cell
--   parent_cell  UBIGINT  the cell of the next coarser index that it merges into

with release as (
    select index_id from counts.release where release_id = $release_id
),

there as (
    select fix.cell from release join grid.fix as fix on fix.index_id = release.index_id
    union
    select cell from counts.occupancy where release_id = $release_id
)

select cell.cell, cell.parent_cell
from release
join grid.cell as cell on cell.index_id = release.index_id
where cell.cell in (select cell from there)
order by cell.cell
