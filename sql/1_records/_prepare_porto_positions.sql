-- records._prepare_porto_positions: the earliest point of each busy taxi in each interval of a month.
--
-- One point of a trip is taken for each slot that it meets: most are never looked at.
--
-- reads:   trip, taxi, download_line
-- params:  month, start, end, interval
-- columns:
--   uid  VARCHAR      the taxi
--   ts   TIMESTAMPTZ  the moment
--   lat  DOUBLE       latitude
--   lng  DOUBLE       longitude

with chosen as (
    select trip.source_row, trip.taxi, trip.ts
    from trip
    join taxi on taxi.taxi = trip.taxi and taxi.busy
    where trip.month = $month
),

parsed as (
    select chosen.taxi, chosen.ts, polyline_points(line.polyline) as points
    from download_line as line
    join chosen using (source_row)
),

slot_met as (
    select
        taxi, ts, points,
        unnest(range(ts // $interval, (ts + 15 * (len(points) - 1)) // $interval + 1)) * $interval as slot_begins
    from parsed
    where points is not null
),

earliest_in_slot as (
    select taxi, ts, points, slot_begins, greatest(0, ceil((slot_begins - ts) / 15))::bigint as step
    from slot_met
),

sampled as (
    select taxi, slot_begins, ts + 15 * step as ts, points[step + 1][2] as lat, points[step + 1][1] as lng
    from earliest_in_slot
)

select taxi as uid, to_timestamp(ts) as ts, lat, lng
from sampled
where slot_begins >= $start and slot_begins < $end and lat is not null and lng is not null
qualify row_number() over (partition by taxi, slot_begins order by ts, lat, lng) = 1
order by uid, ts
