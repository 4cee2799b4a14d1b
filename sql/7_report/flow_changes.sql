-- report.flow_changes: the flows before and after a generalisation, pair of zones by pair of zones.
--
-- grain:   utility_id, origin, destination
-- reads:   grid.cell, metrics.od_flow, study.od, study.utility
-- shards by: release_id
-- view:    yes
-- columns:
--   utility_id   VARCHAR  the comparison, see study.utility
--   after_name   VARCHAR  what the flows after it are made from
--   origin       UBIGINT  the zone left
--   destination  UBIGINT  the zone entered
--   from_zone    VARCHAR  name of the zone left
--   to_zone      VARCHAR  name of the zone entered
--   raw_before   DOUBLE   raw movements before
--   raw_after    DOUBLE   raw movements after

with changed as (
    select
        compared.utility_id,
        flow.origin,
        flow.destination,
        coalesce(sum(flow.raw) filter (flow.od_id = compared.before_id), 0) as raw_before,
        coalesce(sum(flow.raw) filter (flow.od_id = compared.after_id), 0) as raw_after
    from study.utility as compared
    join metrics.od_flow as flow on flow.od_id in (compared.before_id, compared.after_id)
    group by compared.utility_id, flow.origin, flow.destination
)

select
    changed.utility_id,
    compared.after_name,
    changed.origin,
    changed.destination,
    leaving.label as from_zone,
    arriving.label as to_zone,
    changed.raw_before,
    changed.raw_after
from changed
join study.utility as compared using (utility_id)
join study.od as matrix on matrix.od_id = compared.before_id
join grid.cell as leaving on leaving.index_id = matrix.zones_id and leaving.cell = changed.origin
join grid.cell as arriving on arriving.index_id = matrix.zones_id and arriving.cell = changed.destination
