-- records._shard_read_fixes: what a task read, in a form that can be sent to its shard.
--
-- Times are whole microseconds since 1970, which every engine writes alike.
--
-- reads:   records.fix, records.person, records.call
-- params:  task, shards
-- columns:
--   task        INTEGER   number of the task that read it
--   reader      INTEGER   number of the person in that task
--   source_id   INTEGER   number of the source in that task
--   source_row  BIGINT    row of the source
--   micros      BIGINT    when, in microseconds since 1970
--   lat         DOUBLE    degrees north
--   lng         DOUBLE    degrees east
--   place       VARCHAR   the place named
--   called      BOOLEAN   whether it has a row in records.call
--   direction   VARCHAR   of a call
--   region      VARCHAR   of a call
--   shard       BIGINT    the shard of the person

select
    $task::integer as task,
    fix.person as reader,
    fix.source_id,
    fix.source_row,
    epoch_us(fix.ts) as micros,
    fix.lat,
    fix.lng,
    fix.place,
    call.source_id is not null as called,
    call.direction,
    call.region,
    (md5_number_lower(person.uid) % $shards::bigint)::bigint as shard
from records.fix as fix
join records.person as person on person.person = fix.person
left join records.call as call on call.source_id = fix.source_id and call.source_row = fix.source_row
