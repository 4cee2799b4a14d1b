-- metrics.slot_movement: movements between larger cells in each slot of a release that leaves out small counts.
--
-- What is published are counts of people for every slot, and those below the threshold are left out slot by
-- slot, not in the sum over the period. So movements are counted by the slot of the release $published_id in
-- which the person is at the origin, as counts.flow does; metrics.merged_movement then leaves out
-- what fewer than min_count people do in a slot. Built for releases with a threshold alone.
--
-- grain:   flows_id, slot, origin, destination
-- reads:   grid.fix, slots.clock, slots.person, grid.generalised
-- params:  flows_id, published_id, index_id, coarse_id, tick_seconds, slots, shortest, longest
-- shards by: none
-- columns:
--   flows_id            VARCHAR  the movements and the cells that they are merged into, see study.od
--   slot                INTEGER  slot of the published release in which they are at the origin
--   origin              UBIGINT  larger cell that they leave, see grid.cell
--   destination         UBIGINT  larger cell that they are seen in next
--   people              BIGINT   people who make the movement in this slot
--   raw                 DOUBLE   movements
--   constrained_people  BIGINT   people who make it within the bounds of time
--   constrained         DOUBLE   movements within the bounds of time

with recorded as (
    select fix.person, fix.ts, fix.cell, (clock.slot - person.first_slot)::integer as slot
    from grid.fix as fix
    join slots.clock as clock
        on clock.release_id = $published_id
        and clock.tick = floor(epoch(fix.ts) / $tick_seconds)::bigint
    join slots.person as person
        on person.release_id = $published_id and person.person = fix.person and person.kept
    where
        fix.index_id = $index_id
        and clock.slot >= person.first_slot
        and clock.slot < person.first_slot + $slots
),

step as (
    select
        person,
        lag(slot) over in_time as slot,
        lag(cell) over in_time as origin,
        cell as destination,
        epoch(ts) - epoch(lag(ts) over in_time) between $shortest and $longest as in_bounds
    from recorded
    window in_time as (partition by person order by ts, cell)
)

select
    $flows_id as flows_id,
    step.slot,
    leaving.coarse as origin,
    arriving.coarse as destination,
    count(distinct step.person) as people,
    count(*)::double as raw,
    count(distinct step.person) filter (step.in_bounds) as constrained_people,
    (count(*) filter (step.in_bounds))::double as constrained
from step
join grid.generalised as leaving
    on leaving.index_id = $index_id and leaving.coarse_id = $coarse_id and leaving.cell = step.origin
join grid.generalised as arriving
    on arriving.index_id = $index_id and arriving.coarse_id = $coarse_id and arriving.cell = step.destination
where step.origin <> step.destination
group by step.slot, leaving.coarse, arriving.coarse
