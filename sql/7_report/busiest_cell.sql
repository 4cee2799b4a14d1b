-- report.busiest_cell: the five busiest cells of each release, by hour of the day.
--
-- The busiest have the largest sum of published counts; of two alike, the cell with the smaller id. People are
-- averaged over all slots that begin in the hour: one in which the cell is not published counts as nobody.
--
-- grain:   release_id, rank, hour_of_day
-- reads:   counts.occupancy, counts.release, grid.cell
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id   VARCHAR  the release
--   rank         INTEGER  1 for the busiest cell, to 5
--   cell         UBIGINT  the cell, see grid.cell
--   label        VARCHAR  what people call the cell
--   hour_of_day  BIGINT   hour of the day, local time
--   mean_people  DOUBLE   mean people in the cell in slots of that hour

with total as (
    select release_id, cell, sum(people) as person_slots
    from counts.occupancy
    group by release_id, cell
),

busiest as (
    select
        release_id,
        cell,
        (row_number() over (partition by release_id order by person_slots desc, cell))::integer as rank
    from total
    qualify rank <= 5
),

calendar as (
    select release_id, index_id, starts, slot_seconds, unnest(range(slots))::integer as slot
    from counts.release
)

select
    busiest.release_id,
    busiest.rank,
    busiest.cell,
    coalesce(cell.label, busiest.cell::varchar) as label,
    hour(calendar.starts + to_seconds(calendar.slot * calendar.slot_seconds)) as hour_of_day,
    coalesce(sum(occupancy.people), 0) / count(*)::double as mean_people
from busiest
join calendar on calendar.release_id = busiest.release_id
left join counts.occupancy as occupancy
    on occupancy.release_id = busiest.release_id and occupancy.slot = calendar.slot and occupancy.cell = busiest.cell
left join grid.cell as cell on cell.index_id = calendar.index_id and cell.cell = busiest.cell
group by
    busiest.release_id,
    busiest.rank,
    busiest.cell,
    cell.label,
    hour(calendar.starts + to_seconds(calendar.slot * calendar.slot_seconds))
