-- records._shard_fixes: what was sent to a shard, with the numbers that people and sources have in the lab.
--
-- reads:   sent_fix, sent_person, source_number, records.person
-- params:  none
-- columns:
--   source_id   INTEGER      the source
--   source_row  BIGINT       row of the source
--   person      INTEGER      the person
--   ts          TIMESTAMPTZ  when
--   lat         DOUBLE       degrees north
--   lng         DOUBLE       degrees east
--   place       VARCHAR      the place named

select
    source_number.source_id,
    fix.source_row,
    person.person,
    make_timestamptz(fix.micros) as ts,
    fix.lat,
    fix.lng,
    fix.place
from sent_fix as fix
join source_number on source_number.task = fix.task and source_number.read_as = fix.source_id
join sent_person on sent_person.task = fix.task and sent_person.reader = fix.reader
join records.person as person on person.uid = sent_person.uid
order by source_number.source_id, person.person, ts, fix.source_row
