-- records._time_without_zone: what rows say of their time, where the column holds dates or times without a zone.
--
-- reads:   ingest_raw
-- params:  none
-- columns: those of ingest_raw but ts, and
--   form    VARCHAR      naive; null where nothing is written
--   zoned   TIMESTAMPTZ  null
--   number  DOUBLE       null
--   local   TIMESTAMP    the local time
--   doubt   VARCHAR      null

select
    * exclude (ts),
    case when ts is not null then 'naive' end as form,
    null::timestamptz as zoned,
    null::double as number,
    try_cast(ts as timestamp) as local,
    null::varchar as doubt
from ingest_raw
