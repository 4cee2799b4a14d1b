-- records._time_with_zone: what rows say of their time, where the column holds instants.
--
-- reads:   ingest_raw
-- params:  none
-- columns: those of ingest_raw but ts, and
--   form   VARCHAR      zone; null where nothing is written
--   zoned  TIMESTAMPTZ  the instant
--   local  TIMESTAMP    null
--   doubt  VARCHAR      null

select
    * exclude (ts),
    case when ts is not null then 'zone' end as form,
    try_cast(ts as timestamptz) as zoned,
    null::timestamp as local,
    null::varchar as doubt
from ingest_raw
