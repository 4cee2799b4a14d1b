-- report.reidentification: every question about who is singled out, its answer, and what a blind guess gives.
--
-- Shares are of everybody looked for; whoever hides in no crowd, because their own trace does not fit what is known,
-- stays in the denominator with a risk of 0. See metrics.risk, scope all. Questions stand in the order of the page:
-- top places, then points, then points in a row, then others, fewer before more; true traces before protected and
-- recovered ones.
--
-- grain:   risk_id
-- reads:   study.risk, study.traces, metrics.risk, metrics.exposure
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id         VARCHAR  the release whose people are looked for
--   risk_id            VARCHAR  the question, see study.risk
--   rank               INTEGER  place of the question among those about the release, from 1
--   searched_id        VARCHAR  the traces searched, see report.searched_traces
--   protection         VARCHAR  what was done to them, such as cut:6h; none for nothing
--   knowledge          VARCHAR  what is known of a person, such as points:4
--   basis              VARCHAR  what counts as a visit of the traces searched, see study.traces
--   about              VARCHAR  traces or table, see study.risk
--   seed               BIGINT   seed of what is drawn at random
--   sample             BIGINT   people looked for, drawn at random; null for everybody
--   people             BIGINT   people, or pieces of their traces, looked for
--   traces             BIGINT   traces searched
--   unique_share       DOUBLE   share of people singled out
--   low                DOUBLE   lower end of its 95 % interval
--   high               DOUBLE   upper end of its 95 % interval
--   blind_guess        DOUBLE   1 / traces: how often picking one without knowing anything is right
--   mean_risk          DOUBLE   mean of the chance to pick the right trace
--   worst_decile_risk  DOUBLE   the same over the tenth of the people with the highest
--   median_k           BIGINT   the size of a crowd that half the people do not exceed; null where so many are in none
--   exposing_cells     BIGINT   cells that metrics.exposure has for the question
--   exposing_slots     BIGINT   slots that metrics.exposure has for it

with score as (
    select
        risk_id,
        max(people) as people,
        max(estimate) filter (metric = 'unique_share') as unique_share,
        max(low) filter (metric = 'unique_share') as low,
        max(high) filter (metric = 'unique_share') as high,
        max(estimate) filter (metric = 'mean_risk') as mean_risk,
        max(estimate) filter (metric = 'worst_decile_risk') as worst_decile_risk,
        max(estimate) filter (metric = 'k_percentile' and level = 50) as median_k
    from metrics.risk
    where scope = 'all'
    group by risk_id
),

exposing as (
    select
        risk_id,
        count(*) filter (exposed_by = 'cell') as cells,
        count(*) filter (exposed_by = 'slot') as slots
    from metrics.exposure
    group by risk_id
)

select
    asked.release_id,
    asked.risk_id,
    (row_number() over (
        partition by asked.release_id
        order by
            coalesce(list_position(['top', 'points', 'cont'], split_part(asked.knowledge, ':', 1)), 4),
            split_part(asked.knowledge, ':', 1),
            length(split_part(asked.knowledge, ':', 2)),
            asked.knowledge,
            asked.seed,
            asked.sample nulls first,
            searched.run_id nulls first,
            searched.protection <> 'none',
            length(searched.protection),
            searched.protection,
            searched.basis desc,
            asked.risk_id
    ))::integer as rank,
    asked.searched_id,
    searched.protection,
    asked.knowledge,
    asked.basis,
    asked.about,
    asked.seed,
    asked.sample,
    score.people,
    searched.traces,
    score.unique_share,
    score.low,
    score.high,
    1 / searched.traces::double as blind_guess,
    score.mean_risk,
    score.worst_decile_risk,
    score.median_k::bigint as median_k,
    coalesce(exposing.cells, 0) as exposing_cells,
    coalesce(exposing.slots, 0) as exposing_slots
from study.risk as asked
join study.traces as searched on searched.traces_id = asked.searched_id
join score on score.risk_id = asked.risk_id
left join exposing on exposing.risk_id = asked.risk_id
where score.unique_share is not null
