-- report.schedule_answer: every question about weekly schedules and its answer, for crowds of the size asked for.
--
-- Shares and means are over people in crowds of `min_k` or more; `measured` says what share of everybody looked for
-- that is. They are null where there is no such crowd. See metrics.leak. Questions about true traces come first.
--
-- grain:   leak_id
-- reads:   study.leak, study.schedule, study.risk, study.traces, study.run, metrics.leak_by_size
-- shards by: run_id
-- view:    yes
-- columns:
--   release_id           VARCHAR  the release whose people are looked for
--   leak_id              VARCHAR  the question, see study.leak
--   rank                 INTEGER  place of the question among those about the release, from 1
--   timetable            VARCHAR  where the timetable is from: a file's name, grid:30min, found
--   recovered_by         VARCHAR  the attack that recovered the traces searched; none for true ones
--   basis                VARCHAR  what counts as a visit of the traces searched, see study.traces
--   about                VARCHAR  traces or table, see study.leak
--   points               INTEGER  points known of everybody
--   keep                 DOUBLE   a usual place is a habit when it has more than this share of the weeks
--   seed                 BIGINT   seed of what is drawn at random
--   slots                INTEGER  slots of the timetable
--   weeks                INTEGER  weeks that count
--   skipped_weeks        INTEGER  weeks without any data, left out
--   min_k                INTEGER  least size of a crowd
--   people               BIGINT   everybody looked for
--   measured             DOUBLE   share of them in crowds of min_k or more
--   totally_disclosed    DOUBLE   share of those whose every habit is sensitive
--   partly_disclosed     DOUBLE   share with some but not all of them sensitive
--   prob_m               DOUBLE   mean of the largest attack probability
--   ssr                  DOUBLE   mean share of slots with a sensitive habit
--   ntr                  DOUBLE   mean share of slots with a habit
--   effective_schedules  DOUBLE   how many different schedules a crowd is worth, by their entropy

select
    leak.release_id,
    leak.leak_id,
    (row_number() over (
        partition by leak.release_id
        order by run.attack nulls first, traces.basis, leak.points, known.timetable, leak.leak_id
    ))::integer as rank,
    known.timetable,
    coalesce(run.attack, 'none') as recovered_by,
    leak.basis,
    leak.about,
    leak.points,
    leak.keep,
    risk.seed,
    known.slots,
    known.weeks,
    known.skipped_weeks,
    leak.min_k,
    score.looked_for as people,
    score.measured,
    score.totally as totally_disclosed,
    score.partly as partly_disclosed,
    score.prob_m,
    score.ssr,
    score.ntr,
    score.effective as effective_schedules
from study.leak as leak
join study.schedule as known on known.schedule_id = leak.known_schedule_id
join study.risk as risk on risk.risk_id = leak.risk_id
join study.traces as traces on traces.traces_id = risk.searched_id
left join study.run as run on run.run_id = traces.run_id
join metrics.leak_by_size as score on score.leak_id = leak.leak_id and score.min_k = leak.min_k
