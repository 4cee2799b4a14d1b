-- metrics.confidence: whether an attack knows which of its guesses are right: its reliability curve.
--
-- Recovered positions in ten classes, from the tenth of which the attack is least sure (1) to the surest (10), each
-- with the mean of what the attack believed and the share that was right. Positions of equal confidence are in one
-- class, the surest that any of them belongs to, so that classes differ in size, and some are missing where an
-- attack tells few degrees apart. A position is one person in one slot, as far as the track that is taken for the
-- person is somewhere. Only attacks that say how sure they are have rows.
--
-- grain:   run_id, pairing, decile
-- reads:   attacks.confidence, attacks.track, metrics.person_recovery, slots.position
-- params:  run_id, release_id
-- shards by: none
-- columns:
--   run_id      VARCHAR  the run, see study.run
--   pairing     VARCHAR  how tracks were paired with people, see metrics.pair
--   decile      INTEGER  10 for the surest tenth of the positions, 1 for the least sure
--   positions   BIGINT   positions in the class
--   hits        BIGINT   positions of the class in the right cell
--   confidence  DOUBLE   mean confidence of the class
--   accuracy    DOUBLE   hits / positions

with guess as (
    select
        recovery.pairing,
        believed.confidence,
        track.cell = position.cell as is_right
    from metrics.person_recovery as recovery
    join attacks.confidence as believed
        on believed.run_id = recovery.run_id
        and believed.track = recovery.track
    join attacks.track as track
        on track.run_id = recovery.run_id
        and track.track = recovery.track
        and track.slot = believed.slot
    join slots.position as position
        on position.release_id = $release_id
        and position.person = recovery.person
        and position.slot = believed.slot
    where recovery.run_id = $run_id
),

ranked as (
    select
        *,
        rank() over (partition by pairing order by confidence desc) - 1 as surer,
        count(*) over (partition by pairing) as guesses
    from guess
)

select
    $run_id as run_id,
    pairing,
    (10 - 10 * surer // guesses)::integer as decile,
    count(*) as positions,
    count_if(is_right)::bigint as hits,
    avg(confidence::decimal(18, 9)) as confidence,
    count_if(is_right) / count(*)::double as accuracy
from ranked
group by pairing, decile
