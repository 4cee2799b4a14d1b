-- records.tally: what became of the rows of each source; they add up to records.source.rows.
--
-- grain:   source_id, outcome
-- reads:   records.fix, records.rejected
-- params:  none
-- shards by: source_id
-- merge:   sum(rows)
-- columns:
--   source_id  INTEGER  the source, see records.source
--   outcome    VARCHAR  "kept", or the reason of the refusal
--   rows       BIGINT   rows of the source with this outcome

with kept as (
    select source_id, 'kept' as outcome, count(*) as rows
    from records.fix
    group by source_id
),

refused as (
    select source_id, reason as outcome, count(*) as rows
    from records.rejected
    group by source_id, reason
)

select source_id, outcome, rows from kept
union all
select source_id, outcome, rows from refused
