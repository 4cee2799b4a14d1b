-- records._person_new: people whom the lab does not know yet, numbered source by source in the order of their ids.
--
-- reads:   ingest_name, records.person
-- params:  none
-- columns:
--   person  INTEGER  the number, after those that the lab has
--   uid     VARCHAR  identifier of the person in the input

with newcomers as (
    select name, min(first_source) as first_source
    from ingest_name
    where first_source is not null and uid_fault is null and name not in (select uid from records.person)
    group by name
)

select
    (
        coalesce((select max(person) from records.person), 0) + row_number() over (order by first_source, name)
    )::integer as person,
    name as uid
from newcomers
