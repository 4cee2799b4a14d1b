-- report.missed_cells: where an attack goes wrong: person-slots in a cell that were given to another.
--
-- Those that were given to none, since the counts hide too many, are missed as well.
--
-- grain:   run_id, pairing, cell
-- reads:   grid.cell, slots.position, attacks.track, counts.release, metrics.person_recovery, study.run, study.release
-- shards by: run_id
-- view:    yes
-- columns:
--   run_id        VARCHAR  the run, see study.run
--   pairing       VARCHAR  how tracks are taken for people: optimal or greedy
--   cell          UBIGINT  the true cell, see grid.cell
--   label         VARCHAR  name of the cell
--   person_slots  BIGINT   person-slots that are truly there
--   missed        BIGINT   of these, given to another cell or to none
--   share         DOUBLE   share that is missed

with reached as (
    select run_id, max(slot) as last_slot from attacks.track group by run_id
)

select
    recovery.run_id,
    recovery.pairing,
    position.cell,
    cell.label,
    count(*) as person_slots,
    count(*) filter (track.cell is distinct from position.cell) as missed,
    count(*) filter (track.cell is distinct from position.cell) / count(*)::double as share
from metrics.person_recovery as recovery
join study.run as run using (run_id)
join study.release as made on made.release_id = run.release_id
join reached on reached.run_id = recovery.run_id
join slots.position as position
    on position.release_id = made.unprotected_id
    and position.person = recovery.person
    and position.slot <= reached.last_slot
left join attacks.track as track
    on track.run_id = recovery.run_id
    and track.track = recovery.track
    and track.slot = position.slot
join counts.release as release on release.release_id = run.release_id
join grid.cell as cell on cell.index_id = release.index_id and cell.cell = position.cell
group by recovery.run_id, recovery.pairing, position.cell, cell.label
