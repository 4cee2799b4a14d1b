-- metrics.person_error: how far each person's track is from the person, in bands of distance.
--
-- Euclidean, in the projection of the index, to the millimetre. The band of a slot is the smallest of
-- 0, 50, 100, 200, 500, 1,000, 2,000, 5,000, 10,000, 20,000, 50,000 and 100,000 metres that the
-- distance does not exceed; 21,000,000 stands for farther, since no two places on Earth are more apart.
-- Slots in which the track or the person is nowhere, or in a cell without coordinates, are left out.
--
-- grain:   run_id, pairing, person, up_to
-- reads:   attacks.track, metrics.pair, slots.position, grid.cell, counts.release
-- params:  run_id, release_id
-- shards by: person
-- columns:
--   run_id       VARCHAR  the run, see study.run
--   pairing      VARCHAR  how tracks were paired with people, see metrics.pair
--   person       INTEGER  the person, see records.person
--   up_to        INTEGER  upper end of the band in metres
--   slots        INTEGER  slots in this band
--   millimetres  BIGINT   their distances, added up; whole numbers, so that the sum is the same in any order

with place as (
    select cell.cell, cell.x, cell.y
    from grid.cell as cell
    join counts.release as release using (index_id)
    where release.release_id = $release_id and cell.x is not null and cell.y is not null
),

paired as (
    select pairing, person, track
    from metrics.pair
    where run_id = $run_id and stage = 3
),

miss as (
    select
        paired.pairing,
        paired.person,
        round(sqrt(
            (told.x - lived.x) * (told.x - lived.x) + (told.y - lived.y) * (told.y - lived.y)
        ), 3) as metres
    from attacks.track as track
    join paired using (track)
    join slots.position as position
        on position.release_id = $release_id
        and position.person = paired.person
        and position.slot = track.slot
    join place as told on told.cell = track.cell
    join place as lived on lived.cell = position.cell
    where track.run_id = $run_id
),

banded as (
    select
        pairing,
        person,
        metres,
        case
            when metres <= 0 then 0
            when metres <= 50 then 50
            when metres <= 100 then 100
            when metres <= 200 then 200
            when metres <= 500 then 500
            when metres <= 1000 then 1000
            when metres <= 2000 then 2000
            when metres <= 5000 then 5000
            when metres <= 10000 then 10000
            when metres <= 20000 then 20000
            when metres <= 50000 then 50000
            when metres <= 100000 then 100000
            else 21000000
        end as up_to
    from miss
)

select
    $run_id as run_id,
    pairing,
    person,
    up_to,
    count(*)::integer as slots,
    sum(round(metres * 1000)::bigint)::bigint as millimetres
from banded
group by pairing, person, up_to
