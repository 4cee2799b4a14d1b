-- grid._cells_of_release: the rows of grid.cell for which a release has a count.
--
-- reads:   grid.cell, counts.release, counts.occupancy
-- params:  release_id
-- columns: those of grid.cell

select *
from grid.cell
where
    index_id = (select index_id from counts.release where release_id = $release_id)
    and cell in (select cell from counts.occupancy where release_id = $release_id)
