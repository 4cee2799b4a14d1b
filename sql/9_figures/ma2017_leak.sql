-- figures.ma2017_leak: the leak of schedules that figures of a release show: the one closest to what ma2017 asked.
--
-- Three points known and crowds of four, of a given timetable and of what was recorded, where that was asked.
--
-- grain:   release_id
-- reads:   study.risk, study.traces, study.leak, study.schedule
-- shards by: run_id
-- view:    yes
-- columns:
--   release_id  VARCHAR  the release
--   leak_id     VARCHAR  the leak, see study.leak
--   risk_id     VARCHAR  the search that it is read from, see study.risk
--   min_k       INTEGER  the size of crowd asked for
--   points      INTEGER  points known

select distinct on (leak.release_id) leak.release_id, leak.leak_id, leak.risk_id, leak.min_k, leak.points
from study.leak as leak
join study.schedule as known on known.schedule_id = leak.known_schedule_id
join study.risk as risk on risk.risk_id = leak.risk_id
join study.traces as searched on searched.traces_id = risk.searched_id
order by
    leak.release_id,
    searched.run_id nulls first,
    searched.basis = 'records' desc,
    starts_with(known.timetable, 'found'),
    abs(leak.points - 3),
    leak.points,
    abs(leak.min_k - 4),
    leak.leak_id
