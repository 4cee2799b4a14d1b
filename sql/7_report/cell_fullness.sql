-- report.cell_fullness: how full the cells of a release are, beside their area.
--
-- grain:   release_id
-- reads:   grid.cell, counts.release, counts.occupancy
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id        VARCHAR  the release
--   index_name        VARCHAR  kind and size of the cells
--   min_count         INTEGER  smaller counts are left out
--   cells             BIGINT   cells with a published count
--   median_km2        DOUBLE   median area of a published count's cell, km²
--   people_per_count  DOUBLE   mean of the published counts

select
    release.release_id,
    release.index_name,
    release.min_count,
    count(distinct occupancy.cell) as cells,
    median(cell.area_km2) as median_km2,
    avg(occupancy.people) as people_per_count
from counts.occupancy as occupancy
join counts.release as release using (release_id)
join grid.cell as cell using (index_id, cell)
group by release.release_id, release.index_name, release.min_count
