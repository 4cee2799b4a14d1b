-- metrics._contributors: how many people are behind the rows of a published table, whatever values it shows.
--
-- People behind a row are those of the release without protection of its counts. Rows behind which there is
-- nobody, as noise makes them, concern nobody.
--
-- reads:   counts.occupancy, counts.flow, slots.position
-- params:  release_id, truth_id, table, least
-- columns:
--   rows        BIGINT  rows that are published
--   fewest      BIGINT  the fewest people behind one of them; null where there are none
--   few_rows    BIGINT  rows with somebody, and fewer than $least people behind them
--   few_people  BIGINT  different people in those rows

with move as (
    select
        person,
        slot,
        cell as origin,
        case
            when lead(slot) over (partition by person order by slot) = slot + 1
                then lead(cell) over (partition by person order by slot)
        end as destination
    from slots.position
    where release_id = $truth_id
),

published as (
    select 'occupancy' as published_table, slot, cell as origin, cell as destination
    from counts.occupancy
    where release_id = $release_id and $table in ('occupancy', 'both')
    union all
    select 'flow' as published_table, slot, origin, destination
    from counts.flow
    where release_id = $release_id and $table in ('flow', 'both')
),

behind as (
    select 'occupancy' as published_table, slot, cell as origin, cell as destination, people
    from counts.occupancy
    where release_id = $truth_id
    union all
    select 'flow' as published_table, slot, origin, destination, people
    from counts.flow
    where release_id = $truth_id
),

published_row as (
    select published.*, behind.people
    from published
    left join behind using (published_table, slot, origin, destination)
),

few as (
    select published_table, slot, origin, destination
    from published_row
    where people < $least
),

person_in_few as (
    select move.person
    from move
    join few on few.published_table = 'occupancy' and few.slot = move.slot and few.origin = move.origin
    union
    select move.person
    from move
    join few
        on few.published_table = 'flow'
        and few.slot = move.slot
        and few.origin = move.origin
        and few.destination = move.destination
)

select
    (select count(*) from published_row) as rows,
    (select min(people) from published_row) as fewest,
    (select count(*) from few) as few_rows,
    (select count(*) from person_in_few) as few_people
