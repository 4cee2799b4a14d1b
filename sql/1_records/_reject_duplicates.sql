-- records._reject_duplicates: fixes equal in everything to one before them, by source and row.
--
-- Only those whose hash occurs twice are compared, in full: a collision of hashes costs time
-- and never a row.
--
-- reads:   records.fix, records.call, ingest_shared_hash
-- params:  first_source, since, until, mask
-- columns:
--   row         BIGINT   number of the fix in records.fix
--   source_id   INTEGER  the source
--   source_row  BIGINT   row of the source

with suspects as (
    select fix.rowid as row, fix.*, call.direction, call.region
    from records.fix as fix
    left join records.call as call using (source_id, source_row)
    where (source_id >= $first_source or ts between $since and $until)
        and (hash(person, ts, lat, lng) & $mask::ubigint)
            in (from ingest_shared_hash)
)

select row, source_id, source_row
from suspects
qualify row_number() over (
    partition by person, ts, lat, lng, place, direction, region order by source_id, source_row
) > 1
