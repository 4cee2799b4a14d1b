-- records._time_as_number: what rows say of their time, where the column holds numbers.
--
-- reads:   ingest_raw
-- params:  none
-- columns: those of ingest_raw but ts, and
--   form    VARCHAR      number; null where nothing is written
--   zoned   TIMESTAMPTZ  null
--   number  DOUBLE       the number, in whatever unit
--   local   TIMESTAMP    null
--   doubt   VARCHAR      null

select
    * exclude (ts),
    case when ts is not null and not isnan(ts::double) then 'number' end as form,
    null::timestamptz as zoned,
    ts::double as number,
    null::timestamp as local,
    null::varchar as doubt
from ingest_raw
