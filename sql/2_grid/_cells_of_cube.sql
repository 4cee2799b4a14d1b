-- grid._cells_of_cube: the rows of grid.cell for which a cube has a count of some group.
--
-- reads:   grid.cell, counts.release, counts.cube
-- params:  release_id, cube_id
-- columns: those of grid.cell

select *
from grid.cell
where
    index_id = (select index_id from counts.release where release_id = $release_id)
    and cell in (select cell from counts.cube where cube_id = $cube_id)
