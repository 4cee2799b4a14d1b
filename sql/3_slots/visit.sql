-- slots.visit: where each trace of a set was, slot by slot: what an adversary searches.
--
-- What counts as a visit is a choice of the set ($basis). slots: where the release says that somebody
-- was, filled slots included, one visit each. observed: the same without filled slots.
-- records: every record is a visit, so that a slot may have several cells and a cell several
-- visits. recovered: the tracks of an attack run. Traces that a protection has
-- divided are written by trajlab.protect.
--
-- grain:   traces_id, trace, slot, cell
-- reads:   slots.position, slots.person, slots.clock, grid.fix, attacks.track
-- params:  traces_id, release_id, run_id, index_id, tick_seconds, slots, basis
-- shards by: slot
-- columns:
--   traces_id  VARCHAR  the set of traces, see study.traces
--   trace      INTEGER  the trace, see slots.trace
--   slot       INTEGER  slot of the release, from 0
--   cell       UBIGINT  the cell, see grid.cell
--   visits     BIGINT   how many visits: records where every record counts, else 1

select $traces_id as traces_id, person as trace, slot, cell, 1::bigint as visits
from slots.position
where release_id = $release_id and ($basis = 'slots' or ($basis = 'observed' and observed))
union all
select
    $traces_id as traces_id,
    fix.person as trace,
    (clock.slot - person.first_slot)::integer as slot,
    fix.cell,
    count(*) as visits
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
    and $basis = 'records'
group by fix.person, clock.slot - person.first_slot, fix.cell
union all
select $traces_id as traces_id, track as trace, slot, cell, 1::bigint as visits
from attacks.track
where run_id = $run_id and $basis = 'recovered'
