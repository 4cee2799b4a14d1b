-- metrics.drawn_point: a few points of each person's trajectory that somebody might know.
--
-- A point is a place at a time. `random` are points of a person in the order of a lottery that
-- depends on the seed, the person's uid and the slot alone, so that people who are added
-- change nobody's draw. `consecutive` are five that follow each other, from the first of the
-- random ones that has four more after it (one of any five has). Both are drawn once for all
-- sizes: two known points are the first two of five. People with fewer than five points
-- have all of theirs.
--
-- Filled positions are drawn like others, because they are part of what was counted.
--
-- grain:   release_id, knowledge, person, rank
-- reads:   slots.position, records.person
-- params:  release_id, seed
-- columns:
--   release_id  VARCHAR  the release
--   knowledge   VARCHAR  random or consecutive
--   person      INTEGER  the person, see records.person
--   rank        INTEGER  1 for the first point known, up to 5
--   slot        INTEGER  slot of the release, from 0
--   cell        UBIGINT  the cell, see grid.cell

with drawn as (
    select
        position.person,
        position.slot,
        row_number() over (
            partition by position.person order by md5($seed || ':' || person.uid || ':' || position.slot)
        ) as rank
    from slots.position as position
    join records.person as person using (person)
    where position.release_id = $release_id
    qualify rank <= 5
),

stretch_of_five as (
    select
        person,
        slot as first_slot,
        lead(slot, 4) over (partition by person order by slot) as last_slot
    from slots.position
    where release_id = $release_id
),

drawn_stretch as (
    select
        drawn.person,
        coalesce(min_by(stretch.first_slot, drawn.rank) filter (where stretch.last_slot is not null), min(drawn.slot))
            as first_slot,
        coalesce(min_by(stretch.last_slot, drawn.rank) filter (where stretch.last_slot is not null), max(drawn.slot))
            as last_slot
    from drawn
    join stretch_of_five as stretch on stretch.person = drawn.person and stretch.first_slot = drawn.slot
    group by drawn.person
),

known as (
    select 'random' as knowledge, drawn.person, drawn.rank, position.slot, position.cell
    from drawn
    join slots.position as position using (person, slot)
    where position.release_id = $release_id
    union all
    select
        'consecutive' as knowledge,
        position.person,
        row_number() over (partition by position.person order by position.slot) as rank,
        position.slot,
        position.cell
    from drawn_stretch as stretch
    join slots.position as position on position.person = stretch.person
    where
        position.release_id = $release_id
        and position.slot between stretch.first_slot and stretch.last_slot
)

select $release_id as release_id, knowledge, person, rank::integer as rank, slot, cell
from known
