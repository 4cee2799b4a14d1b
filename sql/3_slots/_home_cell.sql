-- slots._home_cell: the cell in which each person of a release spends most nights.
--
-- Night is every slot that begins before 06:00; filled slots count. Among cells with equally many, the one where
-- the person was first at night, then the one with the smaller id. Whoever has no position at night has no home.
--
-- reads:   slots.position, slots.person, counts.release, grid.cell
-- params:  release_id
-- columns:
--   person  INTEGER  the person
--   cell    UBIGINT  the cell; null without a night
--   lng     DOUBLE   longitude of a point in it
--   lat     DOUBLE   latitude of a point in it

with night as (
    select position.person, position.cell, count(*) as night_slots, min(position.slot) as first_night
    from slots.position as position
    join counts.release as release on release.release_id = position.release_id
    where
        position.release_id = $release_id
        and (position.slot % release.slots_per_day) * release.slot_seconds < 6 * 3600
    group by position.person, position.cell
),

home as (
    select person, cell
    from night
    qualify row_number() over (partition by person order by night_slots desc, first_night, cell) = 1
)

select person.person, home.cell, cell.lng, cell.lat
from slots.person as person
join counts.release as release on release.release_id = person.release_id
left join home on home.person = person.person
left join grid.cell as cell on cell.index_id = release.index_id and cell.cell = home.cell
where person.release_id = $release_id and person.kept
order by person.person
