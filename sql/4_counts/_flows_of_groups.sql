-- counts._flows_of_groups: the flows of a cube from the releases of its groups, each protected by itself.
--
-- group_release says which release each group is.
--
-- reads:   group_release, counts.flow
-- params:  cube_id, release_id, attribute
-- columns:
--   cube_id      VARCHAR  the cube
--   release_id   VARCHAR  the release whose people are divided
--   attribute    VARCHAR  what people are divided by
--   value        VARCHAR  the group
--   slot         INTEGER  slot in which they are at the origin
--   origin       UBIGINT  the cell that they come from
--   destination  UBIGINT  the cell that they go to
--   people       BIGINT   the flow as it is published
--   weighted     DOUBLE   null: weights are not protected

select
    $cube_id as cube_id,
    $release_id as release_id,
    $attribute as attribute,
    group_release.value,
    flow.slot,
    flow.origin,
    flow.destination,
    flow.people,
    null::double as weighted
from group_release
join counts.flow as flow on flow.release_id = group_release.group_release_id
