-- report.published_recovery: how much of people's time the strongest attack recovers of all that is out by then.
--
-- Of each release the attack that places people in the right cell most often, by optimal pairing where it was run, over
-- the whole period. A release that was never attacked is not in the shares, and counts as not attacked.
--
-- grain:   published_id
-- reads:   study.published, counts.release, report.accuracy
-- shards by: none
-- view:    yes
-- columns:
--   published_id       VARCHAR  the release, see study.published
--   published_on       DATE     the day on which it came out
--   run_id             VARCHAR  the run of the attack; null where it was not attacked
--   attack             VARCHAR  name of the attack
--   people             BIGINT   people that the mean is over
--   estimate           DOUBLE   share of slots in which a recovered track is in the right cell
--   stay               DOUBLE   the same of people who stay where they are
--   person_slots       BIGINT   people times slots of the release
--   cumulative_slots   BIGINT   person-slots of all attacked releases out by then
--   cumulative_found   DOUBLE   of these in the right cell
--   cumulative_share   DOUBLE   cumulative_found / cumulative_slots
--   not_attacked       BIGINT   releases out by then that were never attacked

with strongest as (
    select release_id, run_id, attack, people, estimate, stay
    from report.accuracy
    where level = 3 and attack not in ('shuffle', 'stay')
    qualify row_number() over (partition by release_id order by pairing desc, estimate desc, run_id) = 1
),

out_there as (
    select
        published.published_id,
        published.published_on,
        strongest.run_id,
        strongest.attack,
        strongest.people,
        strongest.estimate,
        strongest.stay,
        (strongest.people * release.slots)::bigint as person_slots
    from study.published as published
    join counts.release as release on release.release_id = published.release_id
    left join strongest on strongest.release_id = published.release_id
    where published.cube_id is null
)

select
    published_id,
    published_on,
    run_id,
    attack,
    people,
    estimate,
    stay,
    person_slots,
    coalesce(sum(person_slots) over by_then, 0)::bigint as cumulative_slots,
    coalesce(sum(estimate * person_slots) over by_then, 0)::double as cumulative_found,
    sum(estimate * person_slots) over by_then / sum(person_slots) over by_then as cumulative_share,
    count(*) filter (run_id is null) over by_then as not_attacked
from out_there
window by_then as (order by published_on, published_id)
