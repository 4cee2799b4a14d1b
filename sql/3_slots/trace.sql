-- slots.trace: whose trace each one is, in a set of traces that somebody could publish under pseudonyms.
--
-- A set of traces (study.traces) is what an adversary searches. Of a release, everybody has one
-- trace, numbered like the person. Of an attack run, the traces are the tracks it recovered,
-- and nobody's for sure. A protection may divide a person into several traces; those
-- are written by trajlab.protect, with numbers and pseudonyms that say nothing about the person.
--
-- grain:   traces_id, trace
-- reads:   slots.person, slots.clock, grid.fix, attacks.track
-- params:  traces_id, release_id, run_id, index_id, tick_seconds, slots
-- shards by: none
-- columns:
--   traces_id  VARCHAR  the set of traces, see study.traces
--   trace      INTEGER  number of the trace
--   person     INTEGER  whose it is, see records.person; null for a recovered track
--   part       INTEGER  which part of the person's time it is, from 0
--   pseudonym  VARCHAR  the fresh id that it is published under; null where it was not protected
--   records    BIGINT   records of the person, the whole person, in the period; null for a recovered track

with kept as (
    select person, first_slot
    from slots.person
    where release_id = $release_id and kept and $run_id is null
),

recorded as (
    select fix.person, count(*) as records
    from grid.fix as fix
    join slots.clock as clock
        on clock.release_id = $release_id
        and clock.tick = floor(epoch(fix.ts) / $tick_seconds)::bigint
    join kept on kept.person = fix.person
    where
        fix.index_id = $index_id
        and clock.slot >= kept.first_slot
        and clock.slot < kept.first_slot + $slots
    group by fix.person
)

select
    $traces_id as traces_id,
    kept.person as trace,
    kept.person,
    0 as part,
    null::varchar as pseudonym,
    coalesce(recorded.records, 0) as records
from kept
left join recorded on recorded.person = kept.person
union all
select distinct
    $traces_id as traces_id,
    track as trace,
    null::integer as person,
    0 as part,
    null::varchar as pseudonym,
    null::bigint as records
from attacks.track
where run_id = $run_id
