-- report.release_overview: what each release holds: its size, how small its counts are, how large its cells.
--
-- The first screen of the report. Counts that somebody else published have no line in report.summary:
-- their people are the most that are counted in one slot, and what is hidden or filled is not known.
--
-- grain:   release_id
-- reads:   counts.release, counts.occupancy, grid.cell, report.summary, study.release
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id       VARCHAR    the release
--   index_name       VARCHAR    kind and size of the cells
--   slot_minutes     DOUBLE     length of a slot
--   slots            INTEGER    slots of the release
--   fill             VARCHAR    how empty slots were filled
--   min_count        INTEGER    smaller counts are left out
--   recipe           VARCHAR    the protections that the counts went through, in order; empty where there are none
--   people           BIGINT     people in the release
--   cells            BIGINT     cells with a published count
--   counts           BIGINT     published counts
--   flow_counts      BIGINT     published flows
--   median_count     DOUBLE     median of the published counts
--   alone            DOUBLE     share of published counts that are one
--   hidden           DOUBLE     share of person-slots left out by suppression
--   observed_share   DOUBLE     share of person-slots known from records
--   filled           DOUBLE     the rest: share of person-slots that were filled in
--   median_area_km2  DOUBLE     median area of the cells with a published count
--   largest_count    BIGINT     the largest published count
--   left_out         BIGINT     people with records that the release leaves out; null where the lab did not make it
--   last_source      INTEGER    the newest source of its records, see records.source
--   settings         VARCHAR    JSON: every setting of the release, sorted by name
--   index_id         UBIGINT    the index of its cells, see grid.index
--   starts           TIMESTAMP  local time at which slot 0 begins
--   tz               VARCHAR    zone of the local time
--   slot_seconds     INTEGER    length of a slot
--   slots_per_day    INTEGER    slots in a day

with published as (
    select
        release_id,
        count(*) as counts,
        median(people)::double as median_count,
        avg(case when people = 1 then 1.0 else 0.0 end) as alone,
        max(people) as largest_count
    from counts.occupancy
    group by release_id
),

published_cell as (
    select distinct release_id, cell from counts.occupancy
),

size as (
    select
        published_cell.release_id,
        count(*) as cells,
        median(cell.area_km2) as median_area_km2
    from published_cell
    join counts.release as release on release.release_id = published_cell.release_id
    left join grid.cell as cell on cell.index_id = release.index_id and cell.cell = published_cell.cell
    group by published_cell.release_id
),

people_in_slot as (
    select release_id, slot, sum(people) as people
    from counts.occupancy
    group by release_id, slot
),

most_at_once as (
    select release_id, max(people)::bigint as people
    from people_in_slot
    group by release_id
)

select
    release.release_id,
    release.index_name,
    release.slot_seconds / 60.0::double as slot_minutes,
    release.slots,
    release.fill,
    release.min_count,
    coalesce(release.recipe, '') as recipe,
    coalesce(summary.people, most_at_once.people, 0) as people,
    coalesce(summary.cells, size.cells, 0) as cells,
    coalesce(summary.counts, published.counts, 0) as counts,
    coalesce(summary.flow_counts, 0) as flow_counts,
    coalesce(summary.median_count, published.median_count) as median_count,
    coalesce(summary.alone, published.alone) as alone,
    summary.hidden,
    summary.observed_share,
    1 - summary.observed_share as filled,
    size.median_area_km2,
    published.largest_count,
    made.left_out,
    made.last_source,
    made.settings,
    release.index_id,
    release.starts,
    release.tz,
    release.slot_seconds,
    release.slots_per_day
from counts.release as release
left join report.summary as summary on summary.release_id = release.release_id
left join study.release as made on made.release_id = release.release_id
left join published on published.release_id = release.release_id
left join size on size.release_id = release.release_id
left join most_at_once on most_at_once.release_id = release.release_id
