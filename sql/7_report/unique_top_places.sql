-- report.unique_top_places: how unique people and recovered tracks are by their most frequent places.
--
-- grain:   run_id, places
-- reads:   metrics.recovery
-- shards by: run_id
-- view:    yes
-- columns:
--   run_id           VARCHAR  the run, see study.run
--   places           INTEGER  most frequent places known
--   people_unique    DOUBLE   share of people whose set nobody shares
--   tracks_unique    DOUBLE   the same of tracks
--   people_distinct  DOUBLE   different sets of people, for each of them
--   tracks_distinct  DOUBLE   the same of tracks

select
    run_id,
    level as places,
    max(estimate) filter (of = 'truth' and metric = 'unique_share') as people_unique,
    max(estimate) filter (of = 'recovered' and metric = 'unique_share') as tracks_unique,
    max(estimate) filter (of = 'truth' and metric = 'distinct_share') as people_distinct,
    max(estimate) filter (of = 'recovered' and metric = 'distinct_share') as tracks_distinct
from metrics.recovery
where metric in ('unique_share', 'distinct_share')
group by run_id, level
