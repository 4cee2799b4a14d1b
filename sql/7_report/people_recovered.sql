-- report.people_recovered: how many people an attack exposes, by how much of their trajectory it recovers.
--
-- A mean hides those who are recovered almost whole. People without a track are recovered in no slot, and stay in
-- the denominator. See metrics.person_recovery.
--
-- grain:   run_id, pairing, above
-- reads:   metrics.person_recovery, report.attack_run
-- shards by: run_id
-- view:    yes
-- columns:
--   release_id      VARCHAR  the release attacked
--   run_id          VARCHAR  the run, see study.run
--   run_rank        INTEGER  place of the run in report.attack_run
--   pairing         VARCHAR  how tracks were paired with people, see metrics.pair
--   above           DOUBLE   the class: recovered in more than this share of their slots; 0 for all below
--   of_their_slots  VARCHAR  the class in words: over 80%, over half, over a fifth, a fifth or less
--   people          BIGINT   people in the class
--   share           DOUBLE   people / all people

with person as (
    select
        run_id,
        pairing,
        case
            when accuracy > 0.8 then 0.8
            when accuracy > 0.5 then 0.5
            when accuracy > 0.2 then 0.2
            else 0
        end::double as above
    from metrics.person_recovery
),

tallied as (
    select run_id, pairing, above, count(*) as people
    from person
    group by run_id, pairing, above
),

shared as (
    select *, people / sum(people) over (partition by run_id, pairing)::double as share
    from tallied
)

select
    run.release_id,
    shared.run_id,
    run.run_rank,
    shared.pairing,
    shared.above,
    case shared.above
        when 0.8 then 'over 80%'
        when 0.5 then 'over half'
        when 0.2 then 'over a fifth'
        else 'a fifth or less'
    end as of_their_slots,
    shared.people,
    shared.share
from shared
join report.attack_run as run on run.run_id = shared.run_id
