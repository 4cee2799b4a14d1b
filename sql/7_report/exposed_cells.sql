-- report.exposed_cells: the cells that give most people away: known of how many, and how many of those are singled out.
--
-- Take the places to hide, to merge or to coarsen from the top.
--
-- grain:   risk_id, cell
-- reads:   grid.cell, counts.release, metrics.exposure, study.risk
-- view:    yes
-- columns:
--   risk_id      VARCHAR  the question, see report.adversary
--   cell         UBIGINT  the cell that is known, see grid.cell
--   label        VARCHAR  name of the cell
--   people       BIGINT   people of whom it is known
--   singled_out  BIGINT   of these, singled out
--   share        DOUBLE   their share

select exposure.risk_id, exposure.cell, cell.label, exposure.people, exposure.singled_out, exposure.share
from metrics.exposure as exposure
join study.risk as asked using (risk_id)
join counts.release as release using (release_id)
join grid.cell as cell on cell.index_id = release.index_id and cell.cell = exposure.cell
where exposure.kind = 'cell'
