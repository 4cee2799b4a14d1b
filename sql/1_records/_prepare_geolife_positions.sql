-- records._prepare_geolife_positions: the first position of each track of a user in each interval, near Beijing.
--
-- reads:   plt_line
-- params:  lng, lat, reach, interval
-- columns:
--   uid     VARCHAR    the user: the folder above Trajectory
--   track   VARCHAR    the trajectory: name of its file
--   slot    BIGINT     intervals since 1970
--   month   TIMESTAMP  month of the first point in the interval
--   first   TIMESTAMP  the first point in the interval
--   last    TIMESTAMP  the last point in the interval
--   points  BIGINT     points in the interval
--   lat     DOUBLE     latitude of the first point
--   lng     DOUBLE     longitude of the first point

with point as (
    select
        plt_user(filename) as uid,
        regexp_extract(filename, '([^/\\]+)\.[^.]+$', 1) as track,
        try_cast(concat_ws(' ', trim(day), trim(clock)) as timestamp) as ts,
        try_cast(lat as double) as lat,
        try_cast(lng as double) as lng
    from plt_line
),

near_beijing as (
    select * from point where (lng - $lng) ** 2 + (lat - $lat) ** 2 < $reach ** 2 and ts is not null
)

select
    uid,
    track,
    floor(epoch(ts) / $interval)::bigint as slot,
    date_trunc('month', min(ts)) as month,
    min(ts) as first,
    max(ts) as last,
    count(*) as points,
    min(struct_pack(ts := ts, lat := lat, lng := lng)).lat as lat,
    min(struct_pack(ts := ts, lat := lat, lng := lng)).lng as lng
from near_beijing
group by uid, track, slot
order by uid, track, slot
