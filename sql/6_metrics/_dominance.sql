-- metrics._dominance: whether a few people make up most of a cell over the whole period.
--
-- Somebody contributes as many person-slots to a cell as they spend slots there that are published. The largest
-- contributors are those with most of them; the remainder is what the others contribute.
--
-- reads:   counts.occupancy, slots.position
-- params:  release_id, truth_id, largest, most
-- columns:
--   cells      BIGINT  cells that are published
--   share      DOUBLE  the largest share of a cell that its $largest contributors make up
--   remainder  DOUBLE  the smallest remainder beyond the two largest contributors, by the largest contribution
--   cells_few  BIGINT  cells in which the share is above $most
--   people     BIGINT  different people among the largest contributors of these

with contribution as (
    select position.cell, position.person, count(*) as person_slots
    from slots.position as position
    join counts.occupancy as published
        on published.release_id = $release_id and published.slot = position.slot and published.cell = position.cell
    where position.release_id = $truth_id
    group by position.cell, position.person
),

ranked as (
    select
        cell,
        person,
        person_slots,
        row_number() over (partition by cell order by person_slots desc, person) as place
    from contribution
),

cell_total as (
    select
        cell,
        sum(person_slots) as total,
        sum(person_slots) filter (where place <= $largest) as by_largest,
        sum(person_slots) filter (where place <= 2) as by_two,
        max(person_slots) as by_one
    from ranked
    group by cell
)

select
    count(*) as cells,
    max(by_largest / total) as share,
    min((total - by_two) / by_one) as remainder,
    count(*) filter (where by_largest / total > $most) as cells_few,
    (
        select count(distinct ranked.person)
        from ranked
        join cell_total using (cell)
        where ranked.place <= $largest and cell_total.by_largest / cell_total.total > $most
    ) as people
from cell_total
