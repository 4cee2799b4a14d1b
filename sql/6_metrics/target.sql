-- metrics.target: whom an adversary looks for, with the lot that decides what is known of them.
--
-- Everybody with a trace, or a seeded sample of $sample. The lot depends on the seed, the person's
-- uid and the part of their time alone, so that people who are added change nobody's lot.
-- A person is frequent with at least one record a day on average (yin2015).
--
-- Where the traces searched were recovered from counts, a person's own trace is the track
-- paired with them (metrics.pair, everything, the optimal pairing where there is one).
--
-- grain:   risk_id, trace
-- reads:   slots.trace, records.person, metrics.pair
-- params:  risk_id, known_id, run_id, seed, sample, days
-- shards by: traces_id
-- columns:
--   risk_id   VARCHAR  the question, see study.risk
--   trace     INTEGER  the trace that something is known of, see slots.trace
--   person    INTEGER  whose it is, see records.person
--   own       INTEGER  the same person's trace among those searched; null where there is none
--   frequent  BOOLEAN  whether the person has at least one record a day on average
--   lot       UBIGINT  a number that decides what is drawn at random of this trace

with paired as (
    select person, track
    from metrics.pair
    where run_id = $run_id and stage = 3
    qualify row_number() over (partition by person order by case pairing when 'optimal' then 1 else 2 end) = 1
),

drawn as (
    select
        trace.trace,
        trace.person,
        case when $run_id is null then trace.trace else paired.track end as own,
        coalesce(trace.records, 0) >= $days as frequent,
        md5($seed || ':' || person.uid || ':' || trace.part) as lot
    from slots.trace as trace
    join records.person as person on person.person = trace.person
    left join paired on paired.person = trace.person
    where trace.traces_id = $known_id
    qualify $sample is null or row_number() over (order by lot, trace.trace) <= $sample
)

select
    $risk_id as risk_id,
    trace,
    person,
    own,
    frequent,
    ('0x' || substr(lot, 1, 16))::ubigint as lot
from drawn
