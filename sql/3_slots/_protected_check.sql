-- slots._protected_check: how many visits a protection gave, how many of them cannot be, and of whom nobody had any.
--
-- reads:   protected_visit, counts.release, slots.trace
-- params:  traces_id, release_id
-- columns:
--   visits        BIGINT   visits that the protection gave
--   impossible    BIGINT   those without a slot of the release, a cell, a part or a number of visits
--   of_strangers  BIGINT   those of people who had none
--   total         HUGEINT  visits, each as often as it counts

select
    count(*) as visits,
    count(*) filter (
        visit.slot is null or visit.slot < 0 or visit.cell is null or coalesce(visit.part, -1) < 0
        or coalesce(visit.visits, 0) < 1 or visit.slot >= release.slots
    ) as impossible,
    count(*) filter (trace.person is null) as of_strangers,
    sum(visit.visits) as total
from protected_visit as visit
cross join (select slots from counts.release where release_id = $release_id) as release
left join slots.trace as trace on trace.traces_id = $traces_id and trace.person = visit.person
