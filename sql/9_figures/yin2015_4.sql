-- figures.yin2015_4: what merging base stations does to top locations and to points (yin2015, figures 4a and 4b).
--
-- For each release, the releases of stations with as many slots of the same length; only what was asked of
-- several of them. Of frequent people by top locations where they are told apart, else of everybody.
--
-- grain:   release_id, figure, series_order, x_value
-- reads:   counts.release, metrics.risk, report.adversary
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   figure        VARCHAR  number of the figure: 4a or 4b
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  what is known
--   x_value       DOUBLE   stations merged within metres
--   estimate      DOUBLE   share of people singled out
--   low           DOUBLE   lower end of its 95 % interval, where it has one
--   high          DOUBLE   upper end of its 95 % interval, where it has one

with stations as (
    select
        release_id,
        slot_seconds,
        slots,
        coalesce(try_cast(split_part(index_name, ':', 3) as integer), 0) as metres
    from counts.release
    where split_part(index_name, ':', 1) = 'stations'
),

searched as (
    select distinct on (base.release_id, stations.metres, asked.knowledge)
        asked.risk_id,
        base.release_id,
        stations.metres,
        asked.knowledge_kind,
        asked.size
    from counts.release as base
    join stations using (slot_seconds, slots)
    join report.adversary as asked on asked.release_id = stations.release_id
    where asked.run_id is null
        and asked.protection = 'none'
        and asked.knowledge not like '%unordered%'
        and asked.knowledge_kind in ('top', 'points')
    order by
        base.release_id,
        stations.metres,
        asked.knowledge,
        asked.basis = 'records' desc,
        asked.sample desc nulls first,
        asked.risk_id
),

varied as (
    select *
    from searched
    qualify count(*) over (partition by release_id, knowledge_kind, size) > 1
),

frequent as (
    select distinct risk_id from metrics.risk where scope = 'frequent'
)

select
    varied.release_id,
    case varied.knowledge_kind when 'top' then '4a' else '4b' end as figure,
    dense_rank() over (
        partition by varied.release_id, varied.knowledge_kind order by length(varied.size), varied.size
    )::integer as series_order,
    varied.knowledge_kind || ' ' || varied.size as series,
    varied.metres::double as x_value,
    score.estimate,
    score.low,
    score.high
from varied
join metrics.risk as score using (risk_id)
left join frequent using (risk_id)
where score.metric = 'unique_share'
    and score.scope = case when varied.knowledge_kind = 'top' and frequent.risk_id is not null then 'frequent' else 'all' end
