-- metrics.day_gain: how different two successive days are, of one person and of two people.
--
-- xu2017 (figure 7) links the days of a trajectory by the information gain
-- G = H(U+V) - (H(U) + H(V)) / 2, in bits, of the places of a day U and the next day V. It is
-- 0 for days that spend the same time in the same places and 1 for days that share no
-- place. The link works as far as the days of one person gain less than those of two.
--
-- With two people, the second is the one who comes next in a lottery that depends on the seed
-- and the uids alone, and the first comes after the last. Where slots are missing days may differ
-- in length, and G can leave the range from 0 to 1; it then counts in the bin at the end.
--
-- `estimate` gives every person the same weight; `low` and `high` as in metrics.place_share.
--
-- grain:   release_id, days_of, bin
-- reads:   slots.position, records.person
-- params:  release_id, slots_per_day, seed
-- shards by: release_id
-- columns:
--   release_id  VARCHAR  the release
--   days_of     VARCHAR  whose days are compared: one person or two people
--   bin         INTEGER  bin of the gain, from 0 to 19
--   gain_from   DOUBLE   smallest gain in the bin
--   gain_to     DOUBLE   gain at which the next bin begins
--   people      BIGINT   people with two successive days to compare
--   pairs       BIGINT   pairs of days in the bin
--   estimate    DOUBLE   mean over people of the share of their pairs that are in the bin
--   low         DOUBLE   lower end of the 95 % interval of the estimate
--   high        DOUBLE   upper end
--   mean_gain   DOUBLE   mean over people of the mean gain of their pairs, the same in every bin
--   seed        BIGINT   seed of the lottery

with day_place as (
    select person, slot // $slots_per_day as day, cell, count(*) as slots
    from slots.position
    where release_id = $release_id
    group by person, slot // $slots_per_day, cell
),

-- H of a day of n slots is log2(n) - f_log_f / n. Sums are taken in decimals, because
-- those of doubles depend on the number of threads.
day as (
    select person, day, sum(slots)::bigint as slots, sum((slots * log2(slots))::decimal(18, 9)) as f_log_f
    from day_place
    group by person, day
),

drawn as (
    select person, coalesce(lead(person) over lottery, first_value(person) over lottery) as other
    from records.person
    where person in (select person from day)
    window lottery as (order by md5($seed || ':' || uid), uid)
),

pair as (
    select 'one person' as days_of, person, day, person as other from day
    union all
    select 'two people' as days_of, day.person, day.day, drawn.other
    from day
    join drawn using (person)
    where drawn.other <> day.person
),

-- Of two days together, only the places that both share need adding up anew.
shared_place as (
    select
        pair.days_of,
        pair.person,
        pair.day,
        sum((
            (here.slots + there.slots) * log2(here.slots + there.slots)
            - here.slots * log2(here.slots)
            - there.slots * log2(there.slots)
        )::decimal(18, 9)) as f_log_f
    from pair
    join day_place as here on here.person = pair.person and here.day = pair.day
    join day_place as there
        on there.person = pair.other and there.day = pair.day + 1 and there.cell = here.cell
    group by pair.days_of, pair.person, pair.day
),

entropy as (
    select
        pair.days_of,
        pair.person,
        log2(u.slots) - u.f_log_f::double / u.slots as of_u,
        log2(v.slots) - v.f_log_f::double / v.slots as of_v,
        log2(u.slots + v.slots)
        - (u.f_log_f + v.f_log_f + coalesce(shared_place.f_log_f, 0))::double / (u.slots + v.slots) as of_both
    from pair
    join day as u on u.person = pair.person and u.day = pair.day
    join day as v on v.person = pair.other and v.day = pair.day + 1
    left join shared_place
        on shared_place.days_of = pair.days_of
        and shared_place.person = pair.person
        and shared_place.day = pair.day
),

gain as (
    select days_of, person, round(of_both - (of_u + of_v) / 2, 9) as gain
    from entropy
),

person_bin as (
    select
        days_of,
        person,
        greatest(least(floor(gain * 20), 19), 0)::integer as bin,
        count(*) as pairs,
        sum(gain::decimal(18, 12)) as gain,
        sum(count(*)) over (partition by days_of, person) as pairs_of_the_person
    from gain
    group by days_of, person, greatest(least(floor(gain * 20), 19), 0)::integer
),

found as (
    select
        days_of,
        bin,
        sum(pairs)::bigint as pairs,
        sum((pairs / pairs_of_the_person::double)::decimal(18, 12))::double as shares
    from person_bin
    group by days_of, bin
),

population as (
    select
        days_of,
        count(distinct person) as people,
        sum((gain::double / pairs_of_the_person)::decimal(18, 12))::double / count(distinct person) as mean_gain
    from person_bin
    group by days_of
),

histogram as (
    select
        population.days_of,
        every.bin,
        population.people,
        population.mean_gain,
        coalesce(found.pairs, 0) as pairs,
        round(coalesce(found.shares, 0) / population.people, 9) as estimate
    from population
    cross join (select unnest(range(20))::integer as bin) as every
    left join found on found.days_of = population.days_of and found.bin = every.bin
)

select
    $release_id as release_id,
    days_of,
    bin,
    bin / 20.0::double as gain_from,
    (bin + 1) / 20.0::double as gain_to,
    people,
    pairs,
    estimate,
    wilson_low(estimate, people) as low,
    wilson_high(estimate, people) as high,
    mean_gain,
    $seed::bigint as seed
from histogram
