-- report.people_by_cell: how many people each cell of a release holds, with its outline to draw a map of.
--
-- The mean is over all slots of the release: a slot in which the cell is not published counts as nobody.
--
-- grain:   release_id, cell
-- reads:   counts.occupancy, counts.release, grid.index, grid.cell
-- shards by: cell
-- view:    yes
-- columns:
--   release_id             VARCHAR  the release
--   cell                   UBIGINT  the cell, see grid.cell
--   label                  VARCHAR  what people call the cell
--   person_slots           BIGINT   sum of the cell's published counts
--   mean_people            DOUBLE   person_slots / slots of the release
--   largest_count          BIGINT   its largest published count
--   published_slots        BIGINT   slots in which it has a published count
--   slots_with_one_person  BIGINT   those of them in which the count is one
--   area_km2               DOUBLE   area of the cell in square kilometres
--   polygon                VARCHAR  outline in degrees, as well-known text
--   lon0                   DOUBLE   longitude of the centre of the index, see grid.index
--   lat0                   DOUBLE   latitude of the centre of the index

with published as (
    select
        release_id,
        cell,
        sum(people)::bigint as person_slots,
        max(people) as largest_count,
        count(*) as published_slots,
        count(*) filter (people = 1) as slots_with_one_person
    from counts.occupancy
    group by release_id, cell
)

select
    published.release_id,
    published.cell,
    cell.label,
    published.person_slots,
    published.person_slots / release.slots::double as mean_people,
    published.largest_count,
    published.published_slots,
    published.slots_with_one_person,
    cell.area_km2,
    cell.polygon,
    index.lon0,
    index.lat0
from published
join counts.release as release on release.release_id = published.release_id
left join grid.index as index on index.index_id = release.index_id
join grid.cell as cell on cell.index_id = release.index_id and cell.cell = published.cell
