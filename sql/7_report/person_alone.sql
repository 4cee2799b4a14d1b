-- report.person_alone: the share of slots in which a person is alone in their cell.
--
-- Of the truth, not of what was published: a row is about a person.
--
-- grain:   release_id, person
-- reads:   records.person, slots.position
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id   VARCHAR  the release
--   person       INTEGER  the person, see records.person
--   uid          VARCHAR  the name that the person has in the records
--   share_alone  DOUBLE   share of slots with nobody else in the cell

with company as (
    select release_id, person, count(*) over (partition by release_id, slot, cell) as people
    from slots.position
)

select
    company.release_id,
    company.person,
    person.uid,
    avg(case when company.people = 1 then 1.0 else 0.0 end) as share_alone
from company
join records.person as person using (person)
group by company.release_id, company.person, person.uid
