-- metrics.error_cdf: share of recovered positions that lie within a distance of the truth (xu2017, fig. 8b).
--
-- A position is one person in one slot, at the final stage; see metrics.person_error for what is measured.
--
-- grain:   run_id, pairing, metres
-- reads:   metrics.person_error
-- params:  run_id
-- shards by: run_id
-- columns:
--   run_id     VARCHAR  the run, see study.run
--   pairing    VARCHAR  how tracks were paired with people, see metrics.pair
--   metres     INTEGER  a distance, from 0 (the right cell) to 100,000
--   positions  BIGINT   positions that are not farther away
--   share      DOUBLE   positions / all positions

with distance as (
    select unnest([0, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000]) as metres
),

band as (
    select pairing, up_to, sum(slots) as positions
    from metrics.person_error
    where run_id = $run_id
    group by pairing, up_to
)

select
    $run_id as run_id,
    band.pairing,
    distance.metres,
    sum(case when band.up_to <= distance.metres then band.positions else 0 end)::bigint as positions,
    sum(case when band.up_to <= distance.metres then band.positions else 0 end)
        / sum(band.positions)::double as share
from band
cross join distance
group by band.pairing, distance.metres
