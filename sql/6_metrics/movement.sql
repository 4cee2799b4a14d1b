-- metrics.movement: how often people go from one cell to another, as their records tell.
--
-- A movement is two consecutive records of a person in different cells (yin2015: All flows-Raw). It is
-- constrained when $shortest to $longest seconds lie between the two, bounds included: less is a phone that
-- changes between neighbouring masts, more is a trip with others in between that nobody saw. Records of one
-- moment are taken in the order of their cells. Only records of the release count: its people, its period.
--
-- grain:   flows_id, origin, destination
-- reads:   grid.fix, slots.clock, slots.person
-- params:  flows_id, release_id, index_id, tick_seconds, slots, shortest, longest
-- shards by: release_id
-- columns:
--   flows_id     VARCHAR  release and bounds of time, see study.od
--   origin       UBIGINT  cell that they leave, see grid.cell
--   destination  UBIGINT  cell that they are seen in next
--   raw          DOUBLE   movements
--   constrained  DOUBLE   movements within the bounds of time

with recorded as (
    select fix.person, fix.ts, fix.cell
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
),

step as (
    select
        lag(cell) over in_time as origin,
        cell as destination,
        epoch(ts) - epoch(lag(ts) over in_time) as seconds
    from recorded
    window in_time as (partition by person order by ts, cell)
)

select
    $flows_id as flows_id,
    origin,
    destination,
    count(*)::double as raw,
    (count(*) filter (seconds between $shortest and $longest))::double as constrained
from step
where origin <> destination
group by origin, destination
