-- metrics.singled_out: people whom a few known places, or places at times, tell from everybody else.
--
-- xu2017, figure 3. `top`: somebody knows the set of a person's most frequent places (ties go to the
-- place visited first, then to the smaller id), and the person is singled out when nobody
-- else has the same set. `random` and `consecutive`: somebody knows points of metrics.drawn_point,
-- and the person is singled out when nobody else passes through all of them.
--
-- People with fewer places or points are known by all they have. They stay among `people`,
-- so that sparse data cannot look safer by leaving them out. The interval is Wilson's, 95 %.
--
-- grain:   release_id, knowledge, points
-- reads:   slots.position, metrics.shared_point
-- params:  release_id, seed
-- columns:
--   release_id     VARCHAR  the release
--   knowledge      VARCHAR  what is known: top, random or consecutive
--   points         INTEGER  how many places or points are known, 1 to 5
--   people         BIGINT   people in the release
--   unique_people  BIGINT   people singled out
--   estimate       DOUBLE   unique_people / people
--   low            DOUBLE   lower end of the 95 % interval of the estimate
--   high           DOUBLE   upper end
--   seed           BIGINT   seed of the draws

with size as (
    select unnest(range(1, 6)) as points
),

top_place as (
    select
        person,
        cell,
        row_number() over (partition by person order by count(*) desc, min(slot), cell) as rank
    from slots.position
    where release_id = $release_id
    group by person, cell
),

top_set as (
    select size.points, top_place.person, list_sort(list(top_place.cell)) as cells
    from size
    join top_place on top_place.rank <= size.points
    group by size.points, top_place.person
),

people_with_the_set as (
    select points, count(*) as people
    from top_set
    group by points, cells
),

outcome as (
    select 'top' as knowledge, points, people, case when people = 1 then 1 else 0 end as unique_people
    from people_with_the_set
    union all
    select
        draw.knowledge,
        size.points,
        1 as people,
        case when draw.shared < least(size.points, draw.points) then 1 else 0 end as unique_people
    from metrics.shared_point as draw
    cross join size
    where draw.release_id = $release_id
),

population as (
    select
        knowledge,
        points,
        sum(people)::bigint as people,
        sum(unique_people)::bigint as unique_people,
        sum(unique_people) / sum(people)::double as estimate
    from outcome
    group by knowledge, points
),

wilson as (
    select
        knowledge,
        points,
        (estimate + 1.9208 / people) / (1 + 3.8416 / people) as middle,
        1.96 * sqrt(estimate * (1 - estimate) / people + 0.9604 / people / people) / (1 + 3.8416 / people) as half
    from population
)

select
    $release_id as release_id,
    knowledge,
    points::integer as points,
    people,
    unique_people,
    estimate,
    greatest(least(middle - half, estimate), 0) as low,
    least(greatest(middle + half, estimate), 1) as high,
    $seed::bigint as seed
from population
join wilson using (knowledge, points)
