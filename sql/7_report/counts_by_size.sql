-- report.counts_by_size: how small the published counts of each release are, in six classes.
--
-- The first class is one person, alone in a cell. Shares are of the published counts: what suppression
-- left out is in no class.
--
-- grain:   release_id, smallest
-- reads:   counts.occupancy
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id  VARCHAR  the release
--   smallest    INTEGER  the smallest count of the class: 1, 2, 3, 5, 10 or 20
--   size_class  VARCHAR  the class in words: 1, 2, 3–4, 5–9, 10–19, 20 or more
--   counts      BIGINT   published counts in the class
--   share       DOUBLE   counts / all published counts of the release

with sized as (
    select
        release_id,
        case
            when people < 3 then people
            when people < 5 then 3
            when people < 10 then 5
            when people < 20 then 10
            else 20
        end::integer as smallest
    from counts.occupancy
),

tallied as (
    select release_id, smallest, count(*) as counts
    from sized
    group by release_id, smallest
)

select
    release_id,
    smallest,
    case smallest
        when 3 then '3–4'
        when 5 then '5–9'
        when 10 then '10–19'
        when 20 then '20 or more'
        else smallest::varchar
    end as size_class,
    counts,
    counts / sum(counts) over (partition by release_id)::double as share
from tallied
