-- report.risk_by_cell_size: how many people each knowledge singles out, beside the size of the cells.
--
-- By top places of frequent people, else of everybody; of whole traces.
--
-- grain:   risk_id
-- reads:   grid.cell, counts.release, report.plain_risk
-- shards by: risk_id
-- view:    yes
-- columns:
--   risk_id       VARCHAR  the question, see report.adversary
--   release_id    VARCHAR  the release it is about
--   knowledge     VARCHAR  what the adversary knows
--   index_name    VARCHAR  kind and size of the cells
--   min_count     INTEGER  smaller counts are left out
--   slot_minutes  DOUBLE   length of a slot
--   km2           DOUBLE   mean area of the cells, km²
--   unique_share  DOUBLE   share of people singled out

with cell_size as (
    select index_id, avg(area_km2) as km2
    from grid.cell
    group by index_id
)

select
    asked.risk_id,
    asked.release_id,
    asked.knowledge,
    release.index_name,
    release.min_count,
    release.slot_seconds / 60.0::double as slot_minutes,
    cell_size.km2,
    case asked.knowledge_kind when 'top' then asked.unique_frequent else asked.unique_share end as unique_share
from report.plain_risk as asked
join counts.release as release using (release_id)
join cell_size using (index_id)
where asked.protection = 'none'
