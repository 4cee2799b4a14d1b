-- report.accuracy_by_hour: how well an attack recovers each time of day.
--
-- Nights are easy to guess: compare with the run of `stay` before you call an attack good at them. A slot in which
-- the track is nowhere, since the counts hide too many, is not recovered.
--
-- grain:   run_id, pairing, from_hour
-- reads:   slots.position, attacks.track, slots.slot, metrics.person_recovery, study.run, study.release
-- shards by: run_id
-- view:    yes
-- columns:
--   run_id       VARCHAR  the run, see study.run
--   pairing      VARCHAR  how tracks are taken for people: optimal or greedy
--   from_hour    VARCHAR  when the slot begins, HH:MM
--   time_of_day  VARCHAR  night before six, else day
--   accuracy     DOUBLE   share of slots in the right cell

with reached as (
    select run_id, max(slot) as last_slot from attacks.track group by run_id
)

select
    recovery.run_id,
    recovery.pairing,
    strftime(slot.starts, '%H:%M') as from_hour,
    case when hour(slot.starts) < 6 then 'night' else 'day' end as time_of_day,
    avg(case when track.cell = position.cell then 1.0 else 0.0 end) as accuracy
from metrics.person_recovery as recovery
join study.run as run using (run_id)
join study.release as made on made.release_id = run.release_id
join reached on reached.run_id = recovery.run_id
join slots.position as position
    on position.release_id = made.unprotected_id
    and position.person = recovery.person
    and position.slot <= reached.last_slot
join slots.slot as slot on slot.release_id = run.release_id and slot.slot = position.slot
left join attacks.track as track
    on track.run_id = recovery.run_id
    and track.track = recovery.track
    and track.slot = position.slot
group by recovery.run_id, recovery.pairing, from_hour, time_of_day
