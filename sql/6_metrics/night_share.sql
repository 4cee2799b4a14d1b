-- metrics.night_share: how much of the night people spend in their few most frequent night places.
--
-- The night rule of xu2017 expects everybody where they were a moment ago (figure 5). A
-- person's places are ranked over all nights together. Night is every slot that begins
-- before 06:00, and filled slots count: this is about the trajectories that an attack
-- has to recover, not about the records.
--
-- `estimate` is the mean over people, `low` and `high` as in metrics.place_share.
--
-- grain:   release_id, places
-- reads:   slots.position
-- params:  release_id, slots_per_day, night_slots
-- shards by: release_id
-- columns:
--   release_id  VARCHAR  the release
--   places      INTEGER  how many of a person's most frequent night places, 1 to 5
--   people      BIGINT   people with a position at night
--   estimate    DOUBLE   mean share of a person's night slots that fall in those places
--   low         DOUBLE   lower end of the 95 % interval of the estimate
--   high        DOUBLE   upper end

with night_place as (
    select person, cell, count(*) as slots
    from slots.position
    where release_id = $release_id and slot % $slots_per_day < $night_slots
    group by person, cell
),

place_by_rank as (
    select
        person,
        slots,
        sum(slots) over (partition by person) as slots_of_the_person,
        row_number() over (partition by person order by slots desc, cell) as rank
    from night_place
),

counted_from_its_rank_on as (
    select person, slots, slots_of_the_person, unnest(range(rank, 6)) as places
    from place_by_rank
    where rank <= 5
),

person_share as (
    select person, places, sum(slots) / max(slots_of_the_person)::double as share
    from counted_from_its_rank_on
    group by person, places
),

population as (
    select places, count(*) as people, sum(share::decimal(18, 12))::double / count(*) as estimate
    from person_share
    group by places
)

select
    $release_id as release_id,
    places::integer as places,
    people,
    estimate,
    wilson_low(estimate, people) as low,
    wilson_high(estimate, people) as high
from population
