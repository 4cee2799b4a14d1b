-- metrics.crowd: who is looked for in which anonymity set, and which of the known points finds it fastest.
--
-- People of whom the same points are known share one set, named after the first of them. Sets of one
-- are left out: whoever is singled out has no crowd to be guessed from. Candidates are the traces through the rarest of the
-- known points; everybody in the set is among them. Blocks of sets have about $block_size candidates
-- and members together, so that members need never be in memory all at once.
--
-- grain:   leak_id, trace
-- reads:   metrics.known_point, metrics.anonymity, slots.visit
-- params:  leak_id, risk_id, searched_traces, block_size
-- shards by: risk_id
-- columns:
--   leak_id     VARCHAR  the question, see study.leak
--   trace       INTEGER  the trace looked for, see metrics.target
--   crowd       INTEGER  the set, by the first trace of whom the same is known
--   k           BIGINT   traces in the set
--   known       INTEGER  points known
--   rarest      INTEGER  rank of the known point that fewest traces pass through
--   candidates  BIGINT   traces that pass through it
--   block       INTEGER  sets are tallied block by block, from 0

with known as (
    select point.trace, point.rank, point.slot, point.cell, answer.k, answer.known
    from metrics.known_point as point
    join metrics.anonymity as answer on answer.risk_id = $risk_id and answer.trace = point.trace
    where point.risk_id = $risk_id and answer.k >= 2
),

popularity as (
    select visit.slot, visit.cell, count(*) as traces
    from slots.visit as visit
    join (select distinct slot, cell from known) as point on point.slot = visit.slot and point.cell = visit.cell
    where visit.traces_id = $searched_traces
    group by visit.slot, visit.cell
),

rarest as (
    select known.trace, known.rank, popularity.traces as candidates
    from known
    join popularity on popularity.slot = known.slot and popularity.cell = known.cell
    qualify row_number() over (partition by known.trace order by popularity.traces, known.slot, known.cell) = 1
),

description as (
    select trace, min(k) as k, min(known) as known, list_sort(list({'slot': slot, 'cell': cell})) as points
    from known
    group by trace
),

named as (
    select
        description.trace,
        min(description.trace) over (partition by description.points) as crowd,
        description.k,
        description.known,
        rarest.rank as rarest,
        rarest.candidates
    from description
    join rarest on rarest.trace = description.trace
),

in_blocks as (
    select
        crowd,
        (sum(candidates + k) over (order by crowd rows unbounded preceding) - candidates - k) // $block_size as block
    from named
    where trace = crowd
)

select
    $leak_id as leak_id,
    named.trace,
    named.crowd,
    named.k,
    named.known,
    named.rarest,
    named.candidates,
    in_blocks.block::integer as block
from named
join in_blocks on in_blocks.crowd = named.crowd
