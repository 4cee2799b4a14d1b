-- figures.ma2017_1: when people come to places and leave them on weekdays (ma2017, figure 1).
--
-- All places of the release, Monday to Friday, in quarters of an hour, summed over all weeks.
--
-- grain:   release_id, series_order, x_value
-- reads:   metrics.coming
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  come or leave
--   x_value       DOUBLE   hour of the day
--   estimate      DOUBLE   people in a quarter of an hour
--   low           DOUBLE   none
--   high          DOUBLE   none

with counted as (
    select
        release_id,
        minute // 15 as quarter,
        sum(arrivals) as arrivals,
        sum(departures) as departures
    from metrics.coming
    where weekday <= 5
    group by release_id, minute // 15
),

moment as (
    select release_id, unnest(range(0, 96)) as quarter
    from (select distinct release_id from counted)
),

whole_day as (
    select moment.release_id, moment.quarter, counted.arrivals, counted.departures
    from moment
    left join counted using (release_id, quarter)
),

both_ways as (
    select release_id, quarter, 1 as series_order, 'come' as series, coalesce(arrivals, 0) as people
    from whole_day
    union all
    select release_id, quarter, 2 as series_order, 'leave' as series, coalesce(departures, 0) as people
    from whole_day
)

select
    release_id,
    series_order,
    series,
    quarter / 4.0::double as x_value,
    people::double as estimate,
    null::double as low,
    null::double as high
from both_ways
