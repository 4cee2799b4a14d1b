-- report.person_alone: the share of slots in which a person is alone in their cell.
--
-- Of the truth, not of what was published: a row is about a person, and protecting counts changes nothing of it.
--
-- grain:   release_id, person
-- reads:   records.person, slots.position, study.release
-- shards by: none
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
    made.release_id,
    company.person,
    person.uid,
    avg(case when company.people = 1 then 1.0 else 0.0 end) as share_alone
from company
join study.release as made on made.unprotected_id = company.release_id
join records.person as person using (person)
group by made.release_id, company.person, person.uid
