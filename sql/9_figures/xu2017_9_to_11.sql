-- figures.xu2017_9_to_11: what cells, slots and the number of people change (xu2017, figures 9 to 11).
--
-- For each release, the releases that differ from it in one of these alone and last as many days, each with
-- its attack of xu2017, none of them with protected counts. The name of an index of stations holds a digest of them, so
-- that releases of different people are compared by the kind and the size of their cells, which stand in order.
--
-- grain:   release_id, figure, x_value, run_id, series_order
-- reads:   counts.release, metrics.recovery, study.release, figures.attack_run
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   figure        VARCHAR  number of the figure: 9a, 9b, 10a and so on
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  the stage of the recovery (a), or the most frequent places known (b)
--   x_value       DOUBLE   minutes (10), people (11), or the place of the cells in their order (9)
--   x_label       VARCHAR  the cells (9)
--   run_id        VARCHAR  the run measured, see study.run
--   estimate      DOUBLE   share of slots in the right cell (a), or of tracks that are unique (b)
--   low           DOUBLE   lower end of its 95 % interval, where it has one
--   high          DOUBLE   upper end of its 95 % interval, where it has one

with described as (
    select
        release.release_id,
        release.index_name,
        split_part(release.index_name, ':', 1) || ' ' || split_part(release.index_name, ':', -1) as cells,
        release.slot_seconds,
        release.slots // release.slots_per_day as days,
        made.people
    from counts.release as release
    join study.release as made using (release_id)
    where made.unprotected_id = made.release_id
),

alike as (
    select
        base.release_id,
        other.release_id as other_id,
        other.index_name,
        other.cells,
        other.slot_seconds,
        other.people,
        other.slot_seconds = base.slot_seconds and other.people = base.people as cells_vary,
        other.index_name = base.index_name and other.people = base.people as slots_vary,
        other.cells = base.cells and other.slot_seconds = base.slot_seconds as people_vary
    from described as base
    join described as other using (days)
),

varied as (
    select
        release_id,
        other_id,
        '9' as number,
        dense_rank() over (
            partition by release_id
            order by
                split_part(index_name, ':', 1),
                try_cast(split_part(index_name, ':', -1) as double) nulls first,
                index_name
        ) as x_value,
        cells as x_label
    from alike
    where cells_vary
    union all
    select release_id, other_id, '10' as number, slot_seconds // 60 as x_value, null as x_label
    from alike
    where slots_vary
    union all
    select release_id, other_id, '11' as number, people as x_value, null as x_label
    from alike
    where people_vary
),

attacked as (
    select varied.release_id, varied.number, varied.x_value, varied.x_label, run.run_id
    from varied
    join figures.attack_run as run on run.release_id = varied.other_id and run.attack = 'xu2017'
    qualify count(*) over (partition by varied.release_id, varied.number) > 1
)

select
    attacked.release_id,
    attacked.number || case score.metric when 'accuracy' then 'a' else 'b' end as figure,
    score.level as series_order,
    case
        when score.metric = 'unique_share' then 'top ' || score.level
        when score.level = 1 then '#1 nights'
        when score.level = 2 then '#2 days'
        else '#3 everything'
    end as series,
    attacked.x_value::double as x_value,
    attacked.x_label,
    attacked.run_id,
    score.estimate,
    score.low,
    score.high
from attacked
join metrics.recovery as score using (run_id)
where score.of = 'recovered'
    and score.metric in ('accuracy', 'unique_share')
    and score.pairing in ('greedy', 'none')
