-- metrics._smallest_count: the smallest value above 0 that a published table shows.
--
-- reads:   counts.occupancy, counts.flow
-- params:  release_id, table, least
-- columns:
--   rows      BIGINT  rows that are published
--   smallest  BIGINT  the smallest value above 0; null where there is none
--   small     BIGINT  rows with a value above 0 and below $least

with published as (
    select people
    from counts.occupancy
    where release_id = $release_id and $table in ('occupancy', 'both')
    union all
    select people
    from counts.flow
    where release_id = $release_id and $table in ('flow', 'both')
)

select
    count(*) as rows,
    min(people) filter (where people > 0) as smallest,
    count(*) filter (where people > 0 and people < $least) as small
from published
