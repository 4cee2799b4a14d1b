-- report.summary: one line per release: what was published, and how crowded its cells are.
--
-- A published count of one is a person alone in a cell. `alone` is the share of published
-- counts that are exactly one; `hidden` is the share of person-slots that suppression
-- kept out of the counts: those in a cell that is not listed in the slot, whatever the number of the others.
--
-- grain:   release_id
-- reads:   counts.release, counts.occupancy, counts.flow, slots.position, study.release
-- params:  release_id
-- shards by: none
-- columns:
--   release_id       VARCHAR  the release
--   index_name       VARCHAR  kind and size of the cells
--   slot_minutes     DOUBLE   length of a slot
--   slots            INTEGER  slots of the release
--   fill             VARCHAR  how empty slots were filled
--   min_count        INTEGER  smaller counts are left out
--   people           BIGINT   people in the release
--   cells            BIGINT   cells with a published count
--   counts           BIGINT   published counts
--   flow_counts      BIGINT   published flows
--   median_count     DOUBLE   median of the published counts
--   alone            DOUBLE   share of published counts that are one
--   hidden           DOUBLE   share of person-slots left out by suppression
--   observed_share   DOUBLE   share of person-slots known from records, the rest filled

with made as (
    select release_id, unprotected_id, people
    from study.release
    where release_id = $release_id
),

published as (
    select
        release_id,
        count(*) as counts,
        count(distinct cell) as cells,
        median(people)::double as median_count,
        avg(case when people = 1 then 1.0 else 0.0 end) as alone,
        sum(people)::bigint as person_slots
    from counts.occupancy
    where release_id = $release_id
    group by release_id
),

behind_protection as (
    select made.release_id, sum(behind.people)::bigint as person_slots
    from made
    join counts.occupancy as occupancy on occupancy.release_id = made.release_id
    join counts.occupancy as behind
        on behind.release_id = made.unprotected_id
        and behind.slot = occupancy.slot
        and behind.cell = occupancy.cell
    where made.unprotected_id <> made.release_id
    group by made.release_id
),

flows as (
    select release_id, count(*) as flow_counts
    from counts.flow
    where release_id = $release_id
    group by release_id
),

truth as (
    select
        made.release_id,
        count(*) as person_slots,
        avg(case when position.observed then 1.0 else 0.0 end) as observed_share
    from made
    join slots.position as position on position.release_id = made.unprotected_id
    group by made.release_id
)

select
    release.release_id,
    release.index_name,
    release.slot_seconds / 60.0::double as slot_minutes,
    release.slots,
    release.fill,
    release.min_count,
    made.people,
    coalesce(published.cells, 0) as cells,
    coalesce(published.counts, 0) as counts,
    coalesce(flows.flow_counts, 0) as flow_counts,
    published.median_count,
    published.alone,
    1 - coalesce(
        case when made.unprotected_id = made.release_id then published.person_slots else listed.person_slots end, 0
    ) / truth.person_slots::double as hidden,
    truth.observed_share
from counts.release as release
join made using (release_id)
join truth using (release_id)
left join published using (release_id)
left join behind_protection as listed using (release_id)
left join flows using (release_id)
where release.release_id = $release_id
