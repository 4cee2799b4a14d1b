-- report.input_outcome: what became of the rows of the input: kept, or refused and why.
--
-- grain:   kind, outcome
-- reads:   records.source, records.tally
-- shards by: source_id
-- view:    yes
-- columns:
--   kind     VARCHAR  gps, cdr, wifi, geolife or porto
--   outcome  VARCHAR  kept, or the reason of the refusal
--   rows     BIGINT   rows with this outcome
--   share    DOUBLE   rows / all rows of the kind

with tallied as (
    select source.kind, tally.outcome, sum(tally.rows)::bigint as rows
    from records.tally as tally
    join records.source as source on source.source_id = tally.source_id
    group by source.kind, tally.outcome
)

select kind, outcome, rows, rows / sum(rows) over (partition by kind)::double as share
from tallied
