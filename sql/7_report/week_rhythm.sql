-- report.week_rhythm: the week in the counts: how many cells are occupied, and who changes cell when.
--
-- All weeks of a release are averaged onto one, at most four points an hour. Of the people in the published
-- flows from a slot to the next, `changing_cell` is the share whose two cells differ: flows that are not published
-- count neither above nor below the line.
--
-- grain:   release_id, hour_of_week
-- reads:   counts.release, counts.occupancy, counts.flow
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id      VARCHAR  the release
--   hour_of_week    DOUBLE   hours since Monday 00:00, local time
--   occupied_cells  DOUBLE   mean number of cells with a published count
--   changing_cell   DOUBLE   share of people who are in another cell in the next slot; null without flows

with calendar as (
    select
        release_id,
        unnest(range(slots))::integer as slot,
        epoch(starts)::bigint as starts,
        slot_seconds::bigint as slot_seconds
    from counts.release
),

occupied as (
    select release_id, slot, count(*) as cells
    from counts.occupancy
    group by release_id, slot
),

move as (
    select
        release_id,
        slot,
        sum(people) as people,
        coalesce(sum(people) filter (origin <> destination), 0) as changing
    from counts.flow
    group by release_id, slot
),

-- Seconds since Monday 00:00; 1970 began on a Thursday.
placed as (
    select
        calendar.release_id,
        (calendar.starts + calendar.slot * calendar.slot_seconds + 259200) % 604800 as second,
        greatest(calendar.slot_seconds, 900) as step,
        coalesce(occupied.cells, 0) as cells,
        move.people,
        move.changing
    from calendar
    left join occupied on occupied.release_id = calendar.release_id and occupied.slot = calendar.slot
    left join move on move.release_id = calendar.release_id and move.slot = calendar.slot
)

select
    release_id,
    second // step * step / 3600.0::double as hour_of_week,
    avg(cells) as occupied_cells,
    sum(changing) / sum(people)::double as changing_cell
from placed
group by release_id, second // step * step / 3600.0::double
