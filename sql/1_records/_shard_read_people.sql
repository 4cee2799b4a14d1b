-- records._shard_read_people: everybody whom a task read, with the shard that they belong to.
--
-- The shard follows from the id of the person alone, so that all records of somebody meet whoever read them.
--
-- reads:   records.person
-- params:  task, shards
-- columns:
--   task    INTEGER  number of the task that read them
--   reader  INTEGER  number of the person in that task
--   uid     VARCHAR  the id of the person
--   shard   BIGINT   the shard

select
    $task::integer as task,
    person as reader,
    uid,
    (md5_number_lower(uid) % $shards::bigint)::bigint as shard
from records.person
