-- slots.person: who is in a release, which stretch of their records it uses, and how well it is covered.
--
-- A release of people recorded in different weeks takes from each person the stretch
-- of $days days that has most slots with records (the earliest among equals). Stretches
-- begin whole weeks after the start of the period, so that weekdays stay weekdays
-- (dsilva2024, section IV-A); the last may reach beyond the records. Without alignment
-- $last_week is 0 and everybody's stretch begins at the start.
--
-- Coverage counts all slots of the stretch, those that a clock change skips included.
--
-- A person is left out when records cover less than $coverage of the slots, and when
-- $people is a number and that many others come first in a seeded lottery among those
-- who are covered. The lottery depends on the seed and the person's uid alone. With a $population_id, the people of
-- slots.population are kept and nobody else, with the days that it says.
--
-- grain:   release_id, person
-- reads:   slots.observed, records.person, slots.population
-- params:  release_id, slots_per_day, days, last_week, coverage, people, seed, population_id
-- shards by: release_id
-- columns:
--   release_id      VARCHAR  the release
--   person          INTEGER  the person, see records.person
--   first_slot      INTEGER  slot of slots.observed that becomes slot 0 for this person
--   observed_slots  BIGINT   slots of the stretch that have records
--   coverage        DOUBLE   observed_slots / slots of the release
--   kept            BOOLEAN  whether the person is in the release

with covered_day as (
    select person, slot // $slots_per_day as day, count(*) as observed_slots
    from slots.observed
    where release_id = $release_id
    group by person, slot // $slots_per_day
),

stretch as (
    select
        person,
        unnest(range(
            greatest(0, (day - $days + 7) // 7)::bigint,
            least($last_week, day // 7)::bigint + 1
        )) as week,
        observed_slots
    from covered_day
),

pinned as (
    select person, week
    from slots.population
    where population_id = $population_id
),

best_stretch as (
    select stretch.person, stretch.week, sum(stretch.observed_slots)::bigint as observed_slots
    from stretch
    left join pinned on pinned.person = stretch.person
    where pinned.week is null or pinned.week = stretch.week
    group by stretch.person, stretch.week
    qualify row_number() over (
        partition by stretch.person order by sum(stretch.observed_slots) desc, stretch.week
    ) = 1
),

covered as (
    select person, week, observed_slots, observed_slots / ($days * $slots_per_day)::double as coverage
    from best_stretch
),

lottery as (
    select
        covered.person,
        row_number() over (order by md5($seed || ':' || person.uid), person.uid) as place
    from covered
    join records.person as person using (person)
    where covered.coverage >= $coverage
)

select
    $release_id as release_id,
    covered.person,
    (covered.week * 7 * $slots_per_day)::integer as first_slot,
    covered.observed_slots,
    covered.coverage,
    case
        when $population_id is null
            then lottery.place is not null and lottery.place <= coalesce($people, lottery.place)
        else pinned.person is not null
    end as kept
from covered
left join lottery using (person)
left join pinned on pinned.person = covered.person
