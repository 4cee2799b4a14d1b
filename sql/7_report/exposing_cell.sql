-- report.exposing_cell: the cells that give people away, with their outlines to draw a map of.
--
-- Cells that single out nobody have no row. See metrics.exposure.
--
-- grain:   risk_id, cell
-- reads:   metrics.exposure, study.risk, counts.release, grid.index, grid.cell
-- shards by: slot
-- view:    yes
-- columns:
--   release_id   VARCHAR  the release whose people are looked for
--   risk_id      VARCHAR  the question, see study.risk
--   cell         UBIGINT  the cell, see grid.cell
--   label        VARCHAR  what people call the cell
--   people       BIGINT   people of whom it is known
--   singled_out  BIGINT   those of them who are singled out
--   share        DOUBLE   singled_out / people
--   polygon      VARCHAR  outline in degrees, as well-known text
--   lon0         DOUBLE   longitude of the centre of the index, see grid.index
--   lat0         DOUBLE   latitude of the centre of the index

select
    asked.release_id,
    exposure.risk_id,
    exposure.cell,
    coalesce(cell.label, exposure.cell::varchar) as label,
    exposure.people,
    exposure.singled_out,
    exposure.share,
    cell.polygon,
    index.lon0,
    index.lat0
from metrics.exposure as exposure
join study.risk as asked on asked.risk_id = exposure.risk_id
join counts.release as release on release.release_id = asked.release_id
left join grid.index as index on index.index_id = release.index_id
left join grid.cell as cell on cell.index_id = release.index_id and cell.cell = exposure.cell
where exposure.exposed_by = 'cell' and exposure.singled_out > 0
