-- report.disclosure: what is disclosed by what is published together, with when and where.
--
-- grain:   differencing_id, release_id, cube_id, value, slot, cell, how
-- reads:   metrics.disclosure, study.differencing, counts.release, grid.cell
-- shards by: differencing_id
-- view:    yes
-- columns:
--   differencing_id  VARCHAR    the audit, see study.differencing
--   audited_id       VARCHAR    the release or cube that is about to be published
--   beside           VARCHAR    what is published beside it, ids with blanks between
--   release_id       VARCHAR    the release whose count it is; that whose people are divided, where it is of a cube
--   cube_id          VARCHAR    the cube whose count it is; null where it is the release's own
--   value            VARCHAR    the group, of a cube
--   slot             INTEGER    slot of the release
--   starts           TIMESTAMP  local time at which the slot begins
--   index_name       VARCHAR    kind and size of the cells
--   cell             UBIGINT    the cell
--   label            VARCHAR    what people call it
--   how              VARCHAR    published elsewhere, subtraction, bounds or contributors
--   low              DOUBLE     the true count is at least this
--   high             DOUBLE     the true count is at most this
--   derivation       VARCHAR    the sum that reveals it

select
    found.differencing_id,
    audit.release_id as audited_id,
    audit.beside,
    found.release_id,
    found.cube_id,
    found.value,
    found.slot,
    release.starts + to_seconds(found.slot::bigint * release.slot_seconds) as starts,
    release.index_name,
    found.cell,
    cell.label,
    found.how,
    found.low,
    found.high,
    found.derivation
from metrics.disclosure as found
join study.differencing as audit on audit.differencing_id = found.differencing_id
join counts.release as release on release.release_id = found.release_id
left join grid.cell as cell on cell.index_id = release.index_id and cell.cell = found.cell
