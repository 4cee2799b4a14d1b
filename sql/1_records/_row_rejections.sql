-- records._row_rejections: the rows that become no fixes, with one reason each.
--
-- What is wrong with the line ($line_faults) comes before who it is about, and that before all else.
--
-- reads:   ingest_row, ingest_person
-- params:  line_faults
-- columns: as in records.rejected
--   source_id   INTEGER  the source
--   source_row  BIGINT   row of the source, from 1
--   reason      VARCHAR  why the row is refused

select
    source_id,
    source_row,
    case when list_contains($line_faults::varchar[], fault) then fault else coalesce(uid_fault, fault) end as reason
from ingest_row as checked
join ingest_person as known on known.uid is not distinct from checked.uid
where checked.fault is not null or known.person is null
order by source_id, source_row
