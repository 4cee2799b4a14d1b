-- report.records_per_day: how many records each local day has.
--
-- A day is that of the clocks where the source is from, or of UTC where its zone is not known. Records are first
-- counted by the minute: no clock is put forward or back within one.
--
-- grain:   local_date
-- reads:   records.fix, records.source
-- shards by: source_id
-- view:    yes
-- columns:
--   local_date  DATE    the local day
--   records     BIGINT  records of that day

with minute as (
    select source_id, epoch_ms(ts) // 60000 as tick, count(*) as records
    from records.fix
    group by source_id, tick
),

placed as (
    select
        timezone(coalesce(source.tz, 'UTC'), make_timestamptz(minute.tick * 60000000))::date as local_date,
        minute.records
    from minute
    join records.source as source on source.source_id = minute.source_id
)

select local_date, sum(records)::bigint as records
from placed
group by local_date
