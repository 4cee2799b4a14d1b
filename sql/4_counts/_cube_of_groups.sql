-- counts._cube_of_groups: the counts of a cube from the releases of its groups, each protected by itself.
--
-- group_release says which release each group is.
--
-- reads:   group_release, counts.occupancy
-- params:  cube_id, release_id, attribute
-- columns:
--   cube_id     VARCHAR  the cube
--   release_id  VARCHAR  the release whose people are divided
--   attribute   VARCHAR  what people are divided by
--   value       VARCHAR  the group
--   slot        INTEGER  slot of the release
--   cell        UBIGINT  the cell
--   people      BIGINT   the count as it is published
--   weighted    DOUBLE   null: weights are not protected

select
    $cube_id as cube_id,
    $release_id as release_id,
    $attribute as attribute,
    group_release.value,
    occupancy.slot,
    occupancy.cell,
    occupancy.people,
    null::double as weighted
from group_release
join counts.occupancy as occupancy on occupancy.release_id = group_release.group_release_id
