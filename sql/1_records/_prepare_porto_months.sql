-- records._prepare_porto_months: how many trips there are, and which month has most.
--
-- reads:   typed_line, trip
-- params:  none
-- columns:
--   lines  BIGINT  lines of the download
--   trips  BIGINT  trips with all their points
--   month  DATE    the month with most trips, the first of equals
--   most   BIGINT  trips of that month

with monthly as (
    select month, count(*) as trips from trip group by month
)

select
    (select count(*) from typed_line) as lines,
    (select count(*) from trip) as trips,
    (select month from monthly order by trips desc, month limit 1) as month,
    (select max(trips) from monthly) as most
