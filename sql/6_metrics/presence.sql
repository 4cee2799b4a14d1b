-- metrics.presence: how many people are seen in each cell, summed over the hours of the period.
--
-- Somebody seen in a cell several times within an hour counts once for that hour (yin2015: hourly caller
-- volume). Hours are those of the UTC clock. Hotspots are found with it, see metrics.od_zone.
--
-- grain:   flows_id, cell
-- reads:   grid.fix, slots.clock, slots.person
-- params:  flows_id, release_id, index_id, tick_seconds, slots
-- shards by: cell
-- columns:
--   flows_id      VARCHAR  release and bounds of time, see study.od
--   cell          UBIGINT  the cell, see grid.cell
--   person_hours  DOUBLE   distinct people of each hour, summed over the hours

with seen as (
    select distinct fix.cell, floor(epoch(fix.ts) / 3600)::bigint as hour, fix.person
    from grid.fix as fix
    join slots.clock as clock
        on clock.release_id = $release_id
        and clock.tick = floor(epoch(fix.ts) / $tick_seconds)::bigint
    join slots.person as person
        on person.release_id = $release_id and person.person = fix.person and person.kept
    where
        fix.index_id = $index_id
        and clock.slot >= person.first_slot
        and clock.slot < person.first_slot + $slots
)

select $flows_id as flows_id, cell, count(*)::double as person_hours
from seen
group by cell
