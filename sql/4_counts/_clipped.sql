-- counts._clipped: people per slot and cell, when of each person only so many slots of a unit are counted.
--
-- Which ones is a lottery that depends on the key, the uid and the slot alone, so that nobody's slots depend on
-- who else is there. A unit is $unit_slots slots, counted from the start.
--
-- reads:   slots.position, records.person
-- params:  release_id, unit_slots, clip, key
-- columns:
--   slot    INTEGER  slot of the release, from 0
--   cell    UBIGINT  the cell, see grid.cell
--   people  BIGINT   people who are counted there

with drawn as (
    select
        position.slot,
        position.cell,
        row_number() over (
            partition by position.person, position.slot // $unit_slots
            order by md5($key || ':' || person.uid || ':' || position.slot), position.slot
        ) as place
    from slots.position as position
    join records.person as person using (person)
    where position.release_id = $release_id
)

select slot, cell, count(*) as people
from drawn
where place <= $clip
group by slot, cell
order by slot, cell
