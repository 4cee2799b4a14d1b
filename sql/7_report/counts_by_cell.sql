-- report.counts_by_cell: how busy each published cell is, and how often it holds a single person.
--
-- grain:   release_id, cell
-- reads:   grid.cell, counts.release, counts.occupancy
-- shards by: cell
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   cell          UBIGINT  the cell, see grid.cell
--   label         VARCHAR  name of the cell
--   counts        BIGINT   published counts, one a slot
--   ones          BIGINT   counts of one person
--   most          BIGINT   the largest count
--   person_slots  BIGINT   the counts added up

select
    occupancy.release_id,
    occupancy.cell,
    cell.label,
    count(*) as counts,
    count(*) filter (occupancy.people = 1) as ones,
    max(occupancy.people) as most,
    sum(occupancy.people)::bigint as person_slots
from counts.occupancy as occupancy
join counts.release as release using (release_id)
join grid.cell as cell using (index_id, cell)
group by occupancy.release_id, occupancy.cell, cell.label
