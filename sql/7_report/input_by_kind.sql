-- report.input_by_kind: what went in: files and rows, kept and refused, by the kind of source and its zone.
--
-- By kind and not by file: a file is often one person's, and called after them. Kept and refused rows add up to
-- all rows.
--
-- grain:   kind, tz
-- reads:   records.source, records.tally
-- shards by: source_id
-- view:    yes
-- columns:
--   kind          VARCHAR  gps, cdr, wifi, geolife or porto
--   tz            VARCHAR  zone in which times without a zone were read; null where it is not known
--   files         BIGINT   files, folders or frames of that kind
--   rows          BIGINT   rows read from them
--   rows_kept     BIGINT   rows that became records
--   rows_refused  BIGINT   rows that did not, see report.input_outcome

with outcome as (
    select
        source_id,
        coalesce(sum(rows) filter (outcome = 'kept'), 0) as kept,
        coalesce(sum(rows) filter (outcome <> 'kept'), 0) as refused
    from records.tally
    group by source_id
)

select
    source.kind,
    source.tz,
    count(*) as files,
    sum(source.rows)::bigint as rows,
    coalesce(sum(outcome.kept), 0)::bigint as rows_kept,
    coalesce(sum(outcome.refused), 0)::bigint as rows_refused
from records.source as source
left join outcome on outcome.source_id = source.source_id
group by source.kind, source.tz
