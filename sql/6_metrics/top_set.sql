-- metrics.top_set: with how many others each person, and each track, shares the set of most frequent cells.
--
-- The cells with most slots; among equals the one visited first, then the smaller id. Somebody seen in
-- fewer than that has them all as the set. Truth and recovered are taken over the same slots, those
-- that the run has. Alone with the set: shared_by is 1. The share of such members is the uniqueness of
-- xu2017; the mean of 1 / shared_by is the number of distinct sets / members, which the published code of
-- dsilva2024 reports.
--
-- grain:   run_id, of, places, member
-- reads:   attacks.track, slots.position
-- params:  run_id, release_id
-- shards by: run_id
-- columns:
--   run_id     VARCHAR  the run, see study.run
--   of         VARCHAR  truth or recovered
--   places     INTEGER  how many of the most frequent cells are in the set, 1 to 5
--   member     INTEGER  the person (of truth) or the track (of recovered)
--   shared_by  BIGINT   members with this very set, this one included

with visit as (
    select 'recovered' as of, track as member, cell, count(*) as slots, min(slot) as first_slot
    from attacks.track
    where run_id = $run_id
    group by track, cell
    union all
    select 'truth' as of, person as member, cell, count(*) as slots, min(slot) as first_slot
    from slots.position
    where release_id = $release_id and slot <= (select max(slot) from attacks.track where run_id = $run_id)
    group by person, cell
),

ranked as (
    select
        of,
        member,
        cell,
        row_number() over (partition by of, member order by slots desc, first_slot, cell) as place
    from visit
),

top_set as (
    select ranked.of, size.places, ranked.member, list_sort(list(ranked.cell)) as cells
    from ranked
    join (select unnest([1, 2, 3, 4, 5]) as places) as size on ranked.place <= size.places
    group by ranked.of, size.places, ranked.member
)

select
    $run_id as run_id,
    of,
    places,
    member,
    count(*) over (partition by of, places, cells) as shared_by
from top_set
