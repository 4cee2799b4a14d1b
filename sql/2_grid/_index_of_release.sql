-- grid._index_of_release: the row of grid.index that the cells of a release belong to.
--
-- reads:   grid.index, counts.release
-- params:  release_id
-- columns: those of grid.index

select *
from grid.index
where index_id = (select index_id from counts.release where release_id = $release_id)
