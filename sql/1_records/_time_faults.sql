-- records._time_faults: every row has an instant from 1970 to 2100 as its ts, or the reason why not.
--
-- reads:   ingest_instant
-- params:  zone_given
-- columns: those of ingest_instant but instant, local and doubt, and
--   ts          TIMESTAMPTZ  the instant
--   time_fault  VARCHAR      the reason of a rejection; null where the time is sound

select
    * exclude (instant, local, doubt),
    instant as ts,
    case
        when instant >= timestamptz '1970-01-01 00:00:00+00'
            and instant < timestamptz '2101-01-01 00:00:00+00' then null
        when instant is not null then 'time out of range'
        when form is null then 'time missing'
        when doubt is not null then doubt
        when local is null then 'time not understood'
        when not isfinite(local) or year(local) not between 1970 and 2100 then 'time out of range'
        when not $zone_given then 'time without zone'
        else 'local time skipped by the clock change'
    end as time_fault
from ingest_instant
