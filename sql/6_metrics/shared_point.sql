-- metrics.shared_point: how many of the points drawn of a person somebody else passes through as well.
--
-- `shared` counts first points: 2 means that somebody else passes through the first and the second,
-- and nobody else through the third as well. Whoever knows more points than that
-- singles the person out. Everybody is compared with everybody else, not with a sample.
--
-- The first point needs only the size of the crowd around it. From two points on, pairs of
-- people are followed: they begin at the emptier of the first two points, so that crowds are
-- not paired where it can be helped, and thin out with every further point.
--
-- grain:   release_id, knowledge, person
-- reads:   slots.position, metrics.drawn_point
-- params:  release_id
-- columns:
--   release_id  VARCHAR  the release
--   knowledge   VARCHAR  random or consecutive, see metrics.drawn_point
--   person      INTEGER  the person, see records.person
--   points      INTEGER  points drawn of the person
--   shared      INTEGER  first points that somebody else shares, 0 when not even the first

with draw as (
    select
        knowledge,
        person,
        row_number() over (order by knowledge, person) as draw,
        count(*)::integer as points
    from metrics.drawn_point
    where release_id = $release_id
    group by knowledge, person
),

crowd as (
    select slot, cell, count(*) as people
    from slots.position
    where release_id = $release_id
    group by slot, cell
),

-- A number stands for knowledge and person: pairs are many, and text would make them slow.
known as (
    select draw.draw, draw.person, point.rank, point.slot, point.cell, crowd.people
    from draw
    join metrics.drawn_point as point using (knowledge, person)
    join crowd using (slot, cell)
    where point.release_id = $release_id
),

first_two as (
    select *, row_number() over (partition by draw order by people, rank) as by_emptiness
    from known
    where rank <= 2
),

shares_the_emptier as (
    select point.draw, other.person as other
    from first_two as point
    join slots.position as other on other.slot = point.slot and other.cell = point.cell
    where other.release_id = $release_id and other.person <> point.person and point.by_emptiness = 1
),

shares_two as (
    select pair.draw, pair.other
    from shares_the_emptier as pair
    join first_two as point on point.draw = pair.draw and point.by_emptiness = 2
    semi join slots.position as other
        on other.release_id = $release_id
        and other.person = pair.other
        and other.slot = point.slot
        and other.cell = point.cell
),

shares_three as (
    select pair.draw, pair.other
    from shares_two as pair
    join known as point on point.draw = pair.draw and point.rank = 3
    semi join slots.position as other
        on other.release_id = $release_id
        and other.person = pair.other
        and other.slot = point.slot
        and other.cell = point.cell
),

shares_four as (
    select pair.draw, pair.other
    from shares_three as pair
    join known as point on point.draw = pair.draw and point.rank = 4
    semi join slots.position as other
        on other.release_id = $release_id
        and other.person = pair.other
        and other.slot = point.slot
        and other.cell = point.cell
),

shares_five as (
    select pair.draw, pair.other
    from shares_four as pair
    join known as point on point.draw = pair.draw and point.rank = 5
    semi join slots.position as other
        on other.release_id = $release_id
        and other.person = pair.other
        and other.slot = point.slot
        and other.cell = point.cell
),

shared_row as (
    select draw, 1 as points from known where rank = 1 and people > 1
    union all
    select draw, 2 as points from shares_two
    union all
    select draw, 3 as points from shares_three
    union all
    select draw, 4 as points from shares_four
    union all
    select draw, 5 as points from shares_five
),

longest_row as (
    select draw, max(points) as points
    from shared_row
    group by draw
)

select
    $release_id as release_id,
    draw.knowledge,
    draw.person,
    draw.points,
    coalesce(longest_row.points, 0)::integer as shared
from draw
left join longest_row using (draw)
