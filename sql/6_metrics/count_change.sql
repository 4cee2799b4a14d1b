-- metrics.count_change: what protections did to every count: people in each slot and cell, and what is published of them.
--
-- About the published table, beside the table that it was made from. A count that is not published is taken for 0,
-- as whoever adds the table up takes it; `listed` tells it from a 0 that is published. Noise may
-- make a published count negative, and it stays so here.
--
-- grain:   release_id, unprotected_id, slot, cell
-- reads:   counts.occupancy
-- params:  release_id, unprotected_id
-- shards by: slot
-- columns:
--   release_id        VARCHAR  the release that is published
--   unprotected_id    VARCHAR  the release that it was made from, or that it is compared with
--   slot              INTEGER  slot of the release, from 0
--   cell              UBIGINT  the cell, see grid.cell
--   true_people       DOUBLE   people in the unprotected table, 0 where it has no row
--   published_people  DOUBLE   people in the published table, 0 where it has no row
--   listed            BOOLEAN  whether the published table has the row

with unprotected as (
    select slot, cell, people
    from counts.occupancy
    where release_id = $unprotected_id
),

published as (
    select slot, cell, people, true as listed
    from counts.occupancy
    where release_id = $release_id
)

select
    $release_id as release_id,
    $unprotected_id as unprotected_id,
    slot,
    cell,
    coalesce(unprotected.people, 0)::double as true_people,
    coalesce(published.people, 0)::double as published_people,
    coalesce(published.listed, false) as listed
from unprotected
full join published using (slot, cell)
