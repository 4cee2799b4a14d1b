-- report.counts_by_hour: how many published counts are of one person, by time of day.
--
-- grain:   release_id, from_hour
-- reads:   slots.slot, counts.occupancy
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id  VARCHAR  the release
--   from_hour   VARCHAR  when the slot begins, HH:MM
--   counts      BIGINT   published counts
--   ones        BIGINT   counts of one person

select
    occupancy.release_id,
    strftime(slot.starts, '%H:%M') as from_hour,
    count(*) as counts,
    count(*) filter (occupancy.people = 1) as ones
from counts.occupancy as occupancy
join slots.slot as slot using (release_id, slot)
group by occupancy.release_id, from_hour
