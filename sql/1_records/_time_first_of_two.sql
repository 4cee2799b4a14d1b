-- records._time_first_of_two: of a local time that the clock showed twice the first; of one that it skipped none.
--
-- reads:   ingest_calendar
-- params:  tz
-- columns: those of ingest_calendar but instant and longer, and
--   instant  TIMESTAMPTZ  the instant

with checked as (
    select
        *,
        case
            when longer > 0
                and timezone($tz, make_timestamptz(epoch_us(instant) - longer)) = local then true
            else false
        end as repeated
    from ingest_calendar
)

select
    * exclude (instant, longer),
    case
        when longer is null then instant
        when timezone($tz, instant) <> local then null
        when repeated then make_timestamptz(epoch_us(instant) - longer)
        else instant
    end as instant
from checked
