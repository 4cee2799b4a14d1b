-- slots._week_slots: rows of slots.week_clock for visits, of which only the slot of the release is known.
--
-- A slot of the release counts for every slot of the timetable, `weekly_slot`, that it overlaps, by the seconds that
-- they have in common; slots of days in $skipped count for none.
--
-- reads:   slots.slot, weekly_slot
-- params:  clock_id, release_id, seconds, skipped
-- columns:
--   clock_id  VARCHAR  as in slots.week_clock
--   tick      BIGINT   slot of the release
--   week      INTEGER  weeks since the start of the release, from 0
--   number    BIGINT   slot of the timetable, from 1
--   weight    BIGINT   seconds that both slots have in common

with slot as (
    select slot, day, slot_of_day * $seconds as begins, (slot_of_day + 1) * $seconds as ends
    from slots.slot
    where release_id = $release_id
)

select
    $clock_id as clock_id,
    slot.slot::bigint as tick,
    slot.day // 7 as week,
    weekly.number,
    (least(slot.ends, weekly.ends) - greatest(slot.begins, weekly.begins))::bigint as weight
from slot
join weekly_slot as weekly on weekly.day = slot.day % 7 and slot.begins < weekly.ends and slot.ends > weekly.begins
where not list_contains($skipped::bigint[], slot.day::bigint)
order by tick, weekly.number
