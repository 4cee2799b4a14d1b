-- grid._nested_cells: how many cells of an index lie wholly in one zone, to a thousandth of their area.
--
-- reads:   grid.overlap
-- params:  index_id, zones_id
-- columns:
--   cells   BIGINT  cells that share area with a zone
--   nested  BIGINT  of these, cells that lie wholly in one zone

with largest_share as (
    select cell, max(billionths) as billionths
    from grid.overlap
    where index_id = $index_id and zones_id = $zones_id
    group by cell
)

select count(*) as cells, count(*) filter (billionths >= 999000000) as nested
from largest_share
