-- records._porto_points: the points of taxi trips, 15 seconds apart.
--
-- A trip with missing points, without points or with an unreadable polyline is one row with a fault.
--
-- reads:   ingest_trip
-- params:  none
-- columns:
--   source_row  BIGINT   row of the trip
--   fault       VARCHAR  why the trip has no points here; null where it has
--   uid         VARCHAR  the taxi
--   ts          DOUBLE   seconds since 1970
--   lat         DOUBLE   latitude
--   lng         DOUBLE   longitude

with parsed as (
    select
        source_row, fault, taxi_id, "timestamp", lower(trim(missing_data)) = 'true' as has_gaps,
        polyline_points(polyline) as points
    from ingest_trip
),

checked as (
    select
        * exclude (fault, points),
        case
            when fault is not null then fault
            when has_gaps then 'trip has missing points'
            when points is null then 'polyline not understood'
            when len(points) = 0 then 'trip without points'
        end as fault,
        points
    from parsed
),

spread as (
    select
        source_row, fault, taxi_id, "timestamp",
        unnest(case when fault is null then range(len(points)) else [0] end) as step,
        unnest(case when fault is null then points else [null] end) as point
    from checked
)

select
    source_row,
    fault,
    taxi_id as uid,
    try_cast("timestamp" as double) + 15 * step as ts,
    point[2] as lat,
    point[1] as lng
from spread
