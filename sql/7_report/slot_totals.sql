-- report.slot_totals: whether everybody is in every slot of a release: the smallest and the largest total of its slots.
--
-- grain:   release_id
-- reads:   counts.release, counts.occupancy
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id       VARCHAR  the release
--   index_name       VARCHAR  kind and size of the cells
--   min_count        INTEGER  smaller counts are left out
--   smallest_total   BIGINT   fewest people published in a slot
--   largest_total    BIGINT   most people published in a slot
--   slots_published  BIGINT   slots with any count
--   slots            INTEGER  slots of the release

with total as (
    select release_id, slot, sum(people)::bigint as people
    from counts.occupancy
    group by release_id, slot
)

select
    release.release_id,
    release.index_name,
    release.min_count,
    min(total.people) as smallest_total,
    max(total.people) as largest_total,
    count(*) as slots_published,
    release.slots
from total
join counts.release as release using (release_id)
group by release.release_id, release.index_name, release.min_count, release.slots
