-- slots._protected_record: records of a release's people and period, each under the id of the part that its slot is in.
--
-- `part_of_slot` says which part that is. Records from sources that came after the release, and those that its
-- study box left out, are not among them.
--
-- reads:   records.fix, slots.clock, slots.person, part_of_slot, slots.trace
-- params:  traces_id, release_id, tick, last_source, everywhere, west, south, east, north
-- columns:
--   trace      INTEGER      the trace, for the order of rows
--   pseudonym  VARCHAR      the fresh id of the part
--   ts         TIMESTAMPTZ  moment of the record
--   lat        DOUBLE       latitude
--   lng        DOUBLE       longitude
--   place      VARCHAR      place that the record names; null for GPS

select trace.trace, trace.pseudonym, fix.ts, fix.lat, fix.lng, fix.place
from records.fix as fix
join slots.clock as clock
    on clock.release_id = $release_id
    and clock.tick = floor(epoch(fix.ts) / $tick)::bigint
join slots.person as person
    on person.release_id = $release_id and person.person = fix.person and person.kept
join part_of_slot on part_of_slot.slot = clock.slot - person.first_slot
join slots.trace as trace
    on trace.traces_id = $traces_id and trace.person = fix.person and trace.part = part_of_slot.part
where
    fix.source_id <= $last_source
    and (
        $everywhere
        or fix.lng is null
        or (fix.lng between $west and $east and fix.lat between $south and $north)
    )
