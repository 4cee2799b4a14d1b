-- slots._blocks_of_people: the first and the last person of each block of about $at_once visits.
--
-- reads:   slots.visit
-- params:  traces_id, at_once
-- columns:
--   first  INTEGER  the first person of a block
--   last   INTEGER  the last person of a block

with person as (
    select trace as person, sum(count(*)) over (order by trace) // $at_once as block
    from slots.visit
    where traces_id = $traces_id
    group by trace
)

select min(person) as first, max(person) as last
from person
group by block
order by block
