-- records._prepare_porto_trips: trips with all their points, one of a taxi and second, with their month and week.
--
-- reads:   typed_line
-- params:  none
-- columns:
--   source_row  BIGINT   row of the download
--   taxi        VARCHAR  the taxi
--   ts          BIGINT   begin of the trip, in seconds since 1970
--   month       DATE     first day of its month
--   week        DATE     Monday of its week

select
    source_row,
    taxi,
    ts,
    date_trunc('month', to_timestamp(ts))::date as month,
    date_trunc('week', to_timestamp(ts))::date as week
from typed_line
where whole and taxi <> '' and ts between 0 and 4102444800
qualify row_number() over (partition by taxi, ts order by source_row) = 1
