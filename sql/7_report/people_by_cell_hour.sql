-- report.people_by_cell_hour: how many people each cell of a release holds at each hour of the day.
--
-- The mean is over all slots of the release that begin in the hour: a slot in which the cell is not published counts
-- as nobody. An hour in which a cell is never published has no row.
--
-- grain:   release_id, cell, hour_of_day
-- reads:   slots.slot, counts.occupancy
-- shards by: cell
-- view:    yes
-- columns:
--   release_id       VARCHAR  the release
--   cell             UBIGINT  the cell, see grid.cell
--   hour_of_day      BIGINT   hour of the day, local time
--   people_per_slot  DOUBLE   sum of the cell's published counts at the hour / slots that begin in the hour

with placed as (
    select release_id, slot, hour(starts) as hour_of_day
    from slots.slot
),

length as (
    select release_id, hour_of_day, count(*) as slots
    from placed
    group by release_id, hour_of_day
),

published as (
    select occupancy.release_id, occupancy.cell, placed.hour_of_day, sum(occupancy.people) as person_slots
    from counts.occupancy as occupancy
    join placed on placed.release_id = occupancy.release_id and placed.slot = occupancy.slot
    group by occupancy.release_id, occupancy.cell, placed.hour_of_day
)

select
    published.release_id,
    published.cell,
    published.hour_of_day,
    published.person_slots / length.slots::double as people_per_slot
from published
join length on length.release_id = published.release_id and length.hour_of_day = published.hour_of_day
