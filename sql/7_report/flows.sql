-- report.flows: published flows between different cells, all slots together.
--
-- grain:   release_id, origin, destination
-- reads:   grid.cell, counts.release, counts.flow
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id   VARCHAR  the release
--   origin       UBIGINT  the cell left, see grid.cell
--   destination  UBIGINT  the cell entered, see grid.cell
--   from_cell    VARCHAR  name of the cell left
--   to_cell      VARCHAR  name of the cell entered
--   people       BIGINT   people who moved, added up over slots

select
    flow.release_id,
    flow.origin,
    flow.destination,
    origin.label as from_cell,
    destination.label as to_cell,
    sum(flow.people)::bigint as people
from counts.flow as flow
join counts.release as release using (release_id)
join grid.cell as origin on origin.index_id = release.index_id and origin.cell = flow.origin
join grid.cell as destination on destination.index_id = release.index_id and destination.cell = flow.destination
where flow.origin <> flow.destination
group by flow.release_id, flow.origin, flow.destination, origin.label, destination.label
