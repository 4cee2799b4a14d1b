-- report.published: what is out, in the order in which it came out, and how much ε it has spent by then.
--
-- Sequential composition: what holds for everything of one person in several noisy tables together is the sum of what
-- holds in each, whether they are of the same days or of others. A table without noise has no ε; from the first of
-- them on, nothing bounds what everything together says of its people, however small the sum of the others.
--
-- grain:   published_id
-- reads:   study.published, counts.release, study.release, study.cube
-- shards by: none
-- view:    yes
-- columns:
--   published_id        VARCHAR  the release or the cube, see study.published
--   release_id          VARCHAR  the release; that whose people are divided, where it is a cube
--   published_on        DATE     the day on which it came out
--   note                VARCHAR  what was noted of it
--   index_name          VARCHAR  kind and size of the cells
--   slot_minutes        DOUBLE   length of a slot
--   days                INTEGER  days of the table
--   recipe              VARCHAR  the protections that the counts went through; empty where there are none
--   min_count           INTEGER  smaller counts are left out
--   claim               VARCHAR  what holds for whoever is in the counts; null without noise, and of a cube
--   epsilon             DOUBLE   ε for everything of one person in the table: that of a unit times units in the period
--   cumulative_epsilon  DOUBLE   the same of all noisy tables out by then
--   tables_out          BIGINT   tables out by then, this one included
--   without_noise       BIGINT   of these without noise

with out_there as (
    select
        published.published_id,
        published.release_id,
        published.published_on,
        published.note,
        release.index_name,
        release.slot_seconds / 60.0::double as slot_minutes,
        ceil(release.slots / release.slots_per_day::double)::integer as days,
        coalesce(cube.recipe, release.recipe, '') as recipe,
        coalesce(cube.min_count, release.min_count) as min_count,
        case when cube.cube_id is null then made.claim end as claim,
        release.slots,
        release.slots_per_day
    from study.published as published
    join counts.release as release on release.release_id = published.release_id
    left join study.release as made on made.release_id = published.release_id
    left join study.cube as cube on cube.cube_id = published.cube_id
),

spent as (
    select
        *,
        try_cast(regexp_extract(recipe, 'noise:[^ ]*eps=([^: ]+)', 1) as double) * ceil(
            slots / case regexp_extract(recipe, 'noise:[^ ]*unit=([^: ]+)', 1)
                when 'person-slot' then 1
                when 'person-day' then slots_per_day
                when 'person-week' then 7 * slots_per_day
                else slots
            end::double
        ) as epsilon
    from out_there
)

select
    published_id,
    release_id,
    published_on,
    note,
    index_name,
    slot_minutes,
    days,
    recipe,
    min_count,
    claim,
    epsilon,
    coalesce(sum(epsilon) over by_then, 0)::double as cumulative_epsilon,
    count(*) over by_then as tables_out,
    count(*) filter (epsilon is null) over by_then as without_noise
from spent
window by_then as (order by published_on, published_id)
