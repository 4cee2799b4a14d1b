-- report.found_tracks: what an adversary who knows a person's top places finds among recovered tracks.
--
-- A unique track is not for that reason the right one: the places may fit nobody, the person's own track among
-- others, or it alone.
--
-- grain:   risk_id
-- reads:   metrics.anonymity, report.adversary, study.run, report.unique_top_places
-- shards by: run_id
-- view:    yes
-- columns:
--   risk_id        VARCHAR  the question, see report.adversary
--   run_id         VARCHAR  the attack whose tracks are searched, see study.run
--   attack         VARCHAR  name of the attack
--   places         INTEGER  most frequent places known
--   sequence       VARCHAR  whether they are known in order
--   people_unique  DOUBLE   share of people whose set of places nobody shares
--   tracks_unique  DOUBLE   the same of tracks
--   fits_nobody    DOUBLE   share of people whose places fit no track
--   finds_own      DOUBLE   share whose own track is among those that fit
--   finds_alone    DOUBLE   share whose own track alone fits

with searched as (
    select
        asked.risk_id,
        asked.run_id,
        asked.known as places,
        asked.sequence,
        avg(case when answer.k = 0 then 1.0 else 0.0 end) as fits_nobody,
        avg(case when answer.found then 1.0 else 0.0 end) as finds_own,
        avg(case when answer.found and answer.k = 1 then 1.0 else 0.0 end) as finds_alone
    from report.adversary as asked
    join metrics.anonymity as answer using (risk_id)
    where asked.knowledge_kind = 'top' and asked.run_id is not null
    group by asked.risk_id, asked.run_id, asked.known, asked.sequence
)

select
    searched.risk_id,
    searched.run_id,
    run.attack,
    searched.places,
    searched.sequence,
    top.people_unique,
    top.tracks_unique,
    searched.fits_nobody,
    searched.finds_own,
    searched.finds_alone
from searched
join study.run as run using (run_id)
join report.unique_top_places as top using (run_id, places)
