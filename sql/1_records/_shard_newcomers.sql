-- records._shard_newcomers: people of a shard whom the lab does not know yet, and what their numbers follow.
--
-- A task reads its files in order and numbers people as they are met; tasks are in the order of the files.
--
-- reads:   sent_fix, sent_person, source_number, records.person
-- params:  none
-- columns:
--   uid      VARCHAR  the id of the person
--   turn     BIGINT   first task that met the person, and the number of the person there

with met as (
    select distinct fix.task, fix.reader
    from sent_fix as fix
    join source_number on source_number.task = fix.task and source_number.read_as = fix.source_id
)

select person.uid, min(met.task::bigint * 4294967296 + met.reader) as turn
from met
join sent_person as person on person.task = met.task and person.reader = met.reader
where person.uid not in (select uid from records.person)
group by person.uid
