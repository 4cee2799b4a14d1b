-- metrics.place_share: how much of people's recorded time is spent in their few most frequent places.
--
-- A life that repeats itself is easier to guess (xu2017, figure 2). The paper counts records;
-- here a slot with records counts once, so that a phone that talks more in one place than
-- in another does not bend the share. Filled slots are left out: no record tells of them.
-- People with fewer places have everything in those they have.
--
-- `estimate` is the mean over people. `low` and `high` are Wilson's 95 % interval for a yes or no of
-- each person, which is on the safe side: no share varies more than that around the same mean.
--
-- grain:   release_id, places
-- reads:   slots.position
-- params:  release_id
-- shards by: release_id
-- columns:
--   release_id  VARCHAR  the release
--   places      INTEGER  how many of a person's most frequent places, 1 to 5
--   people      BIGINT   people of the release with records
--   estimate    DOUBLE   mean share of a person's slots with records that fall in those places
--   low         DOUBLE   lower end of the 95 % interval of the estimate
--   high        DOUBLE   upper end
--   p05         DOUBLE   share that 5 % of the people do not exceed
--   p25         DOUBLE   share that a quarter do not exceed
--   p50         DOUBLE   share that half do not exceed
--   p75         DOUBLE   share that three quarters do not exceed
--   p95         DOUBLE   share that 95 % do not exceed

with place as (
    select person, cell, count(*) as slots
    from slots.position
    where release_id = $release_id and observed
    group by person, cell
),

place_by_rank as (
    select
        person,
        slots,
        sum(slots) over (partition by person) as slots_of_the_person,
        row_number() over (partition by person order by slots desc, cell) as rank
    from place
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

-- The sum is taken in decimals: one of doubles would depend on the number of threads.
population as (
    select
        places,
        count(*) as people,
        sum(share::decimal(18, 12))::double / count(*) as estimate,
        percentile_disc(0.05) within group (order by share) as p05,
        percentile_disc(0.25) within group (order by share) as p25,
        percentile_disc(0.50) within group (order by share) as p50,
        percentile_disc(0.75) within group (order by share) as p75,
        percentile_disc(0.95) within group (order by share) as p95
    from person_share
    group by places
)

select
    $release_id as release_id,
    places::integer as places,
    people,
    estimate,
    wilson_low(estimate, people) as low,
    wilson_high(estimate, people) as high,
    p05,
    p25,
    p50,
    p75,
    p95
from population
