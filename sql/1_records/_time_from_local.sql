-- records._time_from_local: local times become instants of the zone.
--
-- On most days local time is the instant plus a constant, many times faster than asking the
-- calendar, which is asked on days of a clock change. Of a local time that the clock showed
-- twice it gives the second.
--
-- reads:   ingest_numbered, ingest_day
-- params:  tz
-- columns: those of ingest_numbered but instant, and
--   instant  TIMESTAMPTZ  the instant
--   longer   BIGINT       on a day of a clock change, microseconds by which it or the day before exceeds 24 hours

select
    ingest_numbered.* exclude (instant),
    case
        when local is null then instant
        when plain then make_timestamptz(epoch_us(local) - shift)
        when plain is not null then timezone($tz, local)
    end as instant,
    case when local is not null and not plain then longer end as longer
from ingest_numbered
left join ingest_day on ingest_day.day = local::date
