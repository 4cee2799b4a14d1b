-- report.exposing_hour: the hours of the day that give people away.
--
-- Slots are added up by the hour in which they begin. Somebody of whom two points at the hour are known counts twice
-- above and below the line: the share is of known points, not of people. See metrics.exposure.
--
-- grain:   risk_id, hour_of_day
-- reads:   metrics.exposure, study.risk, counts.release
-- shards by: cell
-- view:    yes
-- columns:
--   release_id             VARCHAR  the release whose people are looked for
--   risk_id                VARCHAR  the question, see study.risk
--   hour_of_day            BIGINT   hour of the day, local time
--   known_points           BIGINT   points known at that hour
--   of_people_singled_out  BIGINT   those of them that are of people singled out
--   share                  DOUBLE   of_people_singled_out / known_points

with placed as (
    select
        asked.release_id,
        exposure.risk_id,
        hour(release.starts + to_seconds(exposure.slot * release.slot_seconds)) as hour_of_day,
        exposure.people,
        exposure.singled_out
    from metrics.exposure as exposure
    join study.risk as asked on asked.risk_id = exposure.risk_id
    join counts.release as release on release.release_id = asked.release_id
    where exposure.exposed_by = 'slot'
)

select
    release_id,
    risk_id,
    hour_of_day,
    sum(people)::bigint as known_points,
    sum(singled_out)::bigint as of_people_singled_out,
    sum(singled_out) / sum(people)::double as share
from placed
group by release_id, risk_id, hour_of_day
