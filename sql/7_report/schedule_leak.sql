-- report.schedule_leak: what crowds of each size give away of schedules, one line each.
--
-- For every size; report.schedule_answer has the one that was asked for, and more about the question.
--
-- grain:   leak_id, min_k
-- reads:   counts.release, metrics.leak_by_size, study.traces, study.leak, study.schedule
-- shards by: run_id
-- view:    yes
-- columns:
--   leak_id              VARCHAR  the leak, see study.leak
--   min_k                INTEGER  crowds of at least so many
--   release_id           VARCHAR  the release
--   index_name           VARCHAR  kind and size of the cells
--   slot_minutes         DOUBLE   length of a slot
--   basis                VARCHAR  what the traces searched are made of
--   points               INTEGER  points known
--   measured             DOUBLE   share of people who are in such a crowd at all
--   totally_disclosed    DOUBLE   share whose schedule is totally disclosed
--   partly_disclosed     DOUBLE   share whose schedule is partly disclosed
--   prob_m               DOUBLE   largest chance to meet a member in a slot
--   ssr                  DOUBLE   share of slots that can be guessed
--   ntr                  DOUBLE   share of slots with a habit
--   effective_schedules  DOUBLE   how many places a crowd is effectively spread over

select
    leak.leak_id,
    score.min_k,
    leak.release_id,
    release.index_name,
    release.slot_seconds / 60.0::double as slot_minutes,
    traces.basis,
    leak.points,
    score.measured,
    score.totally as totally_disclosed,
    score.partly as partly_disclosed,
    score.prob_m,
    score.ssr,
    score.ntr,
    score.effective as effective_schedules
from study.leak as leak
join metrics.leak_by_size as score using (leak_id)
join counts.release as release using (release_id)
join study.schedule as schedule on schedule.schedule_id = leak.searched_schedule_id
join study.traces as traces on traces.traces_id = schedule.traces_id
