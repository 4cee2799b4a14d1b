-- records._prepare_porto_taxis: taxis with trips in a month or week, and which made more of them than the mean.
--
-- reads:   trip
-- params:  by, period
-- columns:
--   taxi   VARCHAR  the taxi
--   trips  BIGINT   its trips in the period
--   busy   BOOLEAN  whether these are more than the mean

with made as (
    select taxi, count(*) as trips
    from trip
    where case $by when 'month' then month else week end = $period
    group by taxi
)

select taxi, trips, trips > (select avg(trips) from made) as busy
from made
