-- metrics.exposure: which cells, and which slots, give most people away.
--
-- Of the places and times that an adversary happens to know (metrics.known_point): of how many people
-- each is known, and how many of those are singled out, found and alone. Questions about top
-- locations have no slots; questions about combinations have neither and no rows.
--
-- grain:   risk_id, exposed_by, cell, slot
-- reads:   metrics.known_point, metrics.anonymity
-- params:  risk_id
-- shards by: risk_id
-- columns:
--   risk_id      VARCHAR  the question, see study.risk
--   exposed_by   VARCHAR  cell or slot
--   cell         UBIGINT  the cell, see grid.cell; null for a slot
--   slot         INTEGER  the slot of the release; null for a cell
--   people       BIGINT   people of whom it is known
--   singled_out  BIGINT   those of them who are singled out
--   share        DOUBLE   singled_out / people

with known as (
    select
        point.trace,
        point.cell,
        point.slot,
        case when anonymity.found and anonymity.k = 1 then 1 else 0 end as singled_out
    from metrics.known_point as point
    join metrics.anonymity as anonymity on anonymity.risk_id = point.risk_id and anonymity.trace = point.trace
    where point.risk_id = $risk_id
),

known_once as (
    select distinct 'cell' as exposed_by, trace, cell, null::integer as slot, singled_out
    from known
    union all
    select distinct 'slot' as exposed_by, trace, null::ubigint as cell, slot, singled_out
    from known
    where slot is not null
)

select
    $risk_id as risk_id,
    exposed_by,
    cell,
    slot,
    count(*) as people,
    sum(singled_out)::bigint as singled_out,
    sum(singled_out) / count(*)::double as share
from known_once
group by exposed_by, cell, slot
