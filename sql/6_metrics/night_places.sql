-- metrics.night_places: in how many places people spend a night.
--
-- The night rule of xu2017 expects people to stay (figure 4). Nights are looked at one by one, as
-- the attack does: somebody who sleeps in two homes in turn has one place on each night.
-- Night is every slot that begins before 06:00, filled slots included. The first night of
-- a release begins at its first midnight, like all others.
--
-- `estimate` gives every person the same weight, however many nights they have;
-- `low` and `high` as in metrics.place_share.
--
-- grain:   release_id, places
-- reads:   slots.position
-- params:  release_id, slots_per_day, night_slots
-- shards by: release_id
-- columns:
--   release_id  VARCHAR  the release
--   places      INTEGER  different places of a person during one night
--   people      BIGINT   people with a position at night
--   nights      BIGINT   nights of a person that have that many places
--   estimate    DOUBLE   mean over people of the share of their nights that have that many places
--   low         DOUBLE   lower end of the 95 % interval of the estimate
--   high        DOUBLE   upper end

with night as (
    select person, slot // $slots_per_day as day, count(distinct cell) as places
    from slots.position
    where release_id = $release_id and slot % $slots_per_day < $night_slots
    group by person, slot // $slots_per_day
),

nights_of_a_person as (
    select person, places, count(*) as nights, sum(count(*)) over (partition by person) as nights_of_the_person
    from night
    group by person, places
),

population as (
    select count(distinct person) as people from night
),

share_of_nights as (
    select
        nights_of_a_person.places,
        population.people,
        sum(nights)::bigint as nights,
        sum((nights / nights_of_the_person::double)::decimal(18, 12))::double / population.people as estimate
    from nights_of_a_person
    cross join population
    group by nights_of_a_person.places, population.people
)

select
    $release_id as release_id,
    places::integer as places,
    people,
    nights,
    estimate,
    wilson_low(estimate, people) as low,
    wilson_high(estimate, people) as high
from share_of_nights
