-- records._survey_oddities: the closer look: how times are written and whether coordinates look swapped.
--
-- reads:   ingest_row
-- params:  none
-- columns:
--   source_id          INTEGER  the source
--   zoned              BIGINT   rows whose time has a zone
--   naive              BIGINT   rows whose time has none
--   numbers            BIGINT   rows whose time is a number
--   repeated           BIGINT   sound rows whose local time the clock showed twice
--   at_zero            BIGINT   sound rows at exactly 0, 0
--   bad_times          BIGINT   rows whose time is there and cannot be read
--   no_zone            BIGINT   rows whose time lacks a zone
--   with_degrees       BIGINT   rows with two finite numbers as coordinates
--   fits_swapped       BIGINT   of these, rows that lie on the globe with coordinates swapped
--   only_fits_swapped  BIGINT   of these, rows that lie on it only so
--   only_fits_as_is    BIGINT   rows that lie on it only as they are
--   one_fault          VARCHAR  the reason of every refused row, where there is one for all of them

with degrees as (
    select
        *,
        isfinite(lat) and isfinite(lng) as both_numbers,
        abs(lat) <= 90 and abs(lng) <= 180 as as_is,
        abs(lng) <= 90 and abs(lat) <= 180 as swapped
    from ingest_row
)

select
    source_id,
    count(*) filter (form = 'zone') as zoned,
    count(*) filter (form = 'naive') as naive,
    count(*) filter (form = 'number') as numbers,
    count(*) filter (degrees.repeated and fault is null) as repeated,
    count(*) filter (lat = 0 and lng = 0 and fault is null) as at_zero,
    count(*) filter (starts_with(fault, 'time ') and fault not in ('time missing', 'time without zone')) as bad_times,
    count(*) filter (fault = 'time without zone') as no_zone,
    count(*) filter (both_numbers) as with_degrees,
    count(*) filter (both_numbers and swapped) as fits_swapped,
    count(*) filter (both_numbers and swapped and not as_is) as only_fits_swapped,
    count(*) filter (both_numbers and as_is and not swapped) as only_fits_as_is,
    case when min(fault) = max(fault) then min(fault) end as one_fault
from degrees
group by source_id
