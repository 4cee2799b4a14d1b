-- report.searched_traces: the sets of traces that an adversary was let loose on, and which attack recovered them.
--
-- In the order of the page: true traces first, as they are before what a protection made of them, then recovered ones.
--
-- grain:   traces_id
-- reads:   study.traces, study.run, study.risk
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id  VARCHAR  the release whose people, cells and slots they have
--   traces_id   VARCHAR  the set, see study.traces
--   rank        INTEGER  place of the set among those of the release, from 1
--   basis       VARCHAR  what counts as a visit: slots, observed, records or recovered
--   protection  VARCHAR  what was done to the traces, such as cut:6h; none for nothing
--   run_id      VARCHAR  the run that recovered them, see study.run; null for true ones
--   attack      VARCHAR  its attack
--   settings    VARCHAR  JSON: settings of the attack
--   seed        BIGINT   seed of its chance
--   traces      BIGINT   traces in the set

select
    traces.release_id,
    traces.traces_id,
    (row_number() over (
        partition by traces.release_id
        order by
            traces.run_id nulls first,
            traces.protection <> 'none',
            length(traces.protection),
            traces.protection,
            traces.basis desc,
            traces.traces_id
    ))::integer as rank,
    traces.basis,
    traces.protection,
    traces.run_id,
    run.attack,
    run.settings,
    run.seed,
    traces.traces
from study.traces as traces
left join study.run as run on run.run_id = traces.run_id
where traces.traces_id in (select searched_id from study.risk)
