-- metrics._count_median: the median relative error of published rows with somebody, of people in cells and of flows.
--
-- reads:   metrics.count_change, counts.flow
-- params:  release_id, unprotected_id
-- columns:
--   published_table  VARCHAR  occupancy or flow
--   error            DOUBLE   median of |published - true| / true

with published as (
    select 'occupancy' as published_table, abs(published_people - true_people) / true_people as error
    from metrics.count_change
    where release_id = $release_id and unprotected_id = $unprotected_id and listed and true_people > 0
    union all
    select 'flow' as published_table, abs(flow.people - unprotected.people) / unprotected.people::double as error
    from counts.flow as flow
    join counts.flow as unprotected
        on unprotected.release_id = $unprotected_id
        and unprotected.slot = flow.slot
        and unprotected.origin = flow.origin
        and unprotected.destination = flow.destination
    where flow.release_id = $release_id and flow.origin <> flow.destination and unprotected.people > 0
)

select published_table, median(error) as error
from published
group by published_table
