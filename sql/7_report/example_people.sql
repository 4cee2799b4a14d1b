-- report.example_people: a few people of a run, from the one recovered best to the one recovered worst.
--
-- Chosen by rank, evenly spaced, never by hand. People without a track are not among them: there is nothing to show.
--
-- grain:   example
-- reads:   metrics.person_recovery
-- params:  run_id, pairing, examples
-- shards by: run_id
-- view:    yes
-- columns:
--   example   BIGINT   number of the example, from 0 for the person recovered best
--   person    INTEGER  the person, see records.person
--   accuracy  DOUBLE   share of the person's slots in which the track is in the right cell

with ranked as (
    select
        person,
        accuracy,
        row_number() over (order by accuracy desc, person) - 1 as place,
        count(*) over () as people
    from metrics.person_recovery
    where run_id = $run_id and pairing = $pairing and track is not null
),

wanted as (
    select unnest(range($examples)) as example
)

select wanted.example, ranked.person, ranked.accuracy
from wanted
join ranked on ranked.place = floor(wanted.example * (ranked.people - 1) / greatest($examples - 1, 1))
