-- report.small_counts: how many published counts are of one person, or of up to three.
--
-- grain:   release_id
-- reads:   counts.occupancy, report.summary
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id   VARCHAR  the release
--   index_name   VARCHAR  kind and size of the cells
--   min_count    INTEGER  smaller counts are left out
--   cells        BIGINT   cells with a published count
--   counts       BIGINT   published counts
--   ones         BIGINT   counts of one person
--   up_to_three  BIGINT   counts of one, two or three people
--   alone        DOUBLE   share of published counts that are one

select
    summary.release_id,
    summary.index_name,
    summary.min_count,
    summary.cells,
    summary.counts,
    count(*) filter (occupancy.people = 1) as ones,
    count(*) filter (occupancy.people <= 3) as up_to_three,
    summary.alone
from counts.occupancy as occupancy
join report.summary as summary using (release_id)
group by all
