-- slots._protected_trace: rows of slots.trace for the parts that a protection made, each under a fresh id.
--
-- Numbered in the order of their ids, which says nothing about people or time.
--
-- reads:   protected_visit, records.person, slots.trace
-- params:  traces_id, source_id, key
-- columns: those of slots.trace but traces_id and trace, and
--   traces_id  VARCHAR  the set of traces
--   trace      INTEGER  number of the trace, from 1

with part as (
    select distinct person, part from protected_visit
),

pseudonymous as (
    select
        part.person,
        part.part,
        substr(sha256($key || ':' || person.uid || ':' || part.part), 1, 32) as pseudonym,
        whole.records
    from part
    join records.person as person on person.person = part.person
    join slots.trace as whole on whole.traces_id = $source_id and whole.person = part.person
)

select $traces_id as traces_id, row_number() over (order by pseudonym)::integer as trace, *
from pseudonymous
