"""What the report asks about schedules: every question, and what was found by size, as curves and by slot."""

from __future__ import annotations

ASKED = """
with score as (
    select
        leak_id,
        min_k,
        max(people) filter (metric = 'measured') as people,
        max(estimate) filter (metric = 'measured') as measured,
        max(estimate) filter (metric = 'totally_disclosed') as totally,
        max(estimate) filter (metric = 'partly_disclosed') as partly,
        max(estimate) filter (metric = 'prob_m') as prob_m,
        max(estimate) filter (metric = 'ssr') as ssr,
        max(estimate) filter (metric = 'ntr') as ntr,
        max(estimate) filter (metric = 'effective') as effective_schedules
    from metrics.leak
    group by leak_id, min_k
)

select
    leak.leak_id,
    known.timetable,
    coalesce(run.attack, 'none') as recovered_by,
    leak.basis,
    leak.about,
    leak.points,
    leak.keep,
    risk.seed,
    known.slots,
    known.weeks,
    known.skipped_weeks,
    score.min_k,
    score.people,
    score.measured,
    score.totally,
    score.partly,
    score.prob_m,
    score.ssr,
    score.ntr,
    score.effective_schedules
from study.leak as leak
join study.schedule as known on known.schedule_id = leak.known_id
join study.risk as risk on risk.risk_id = leak.risk_id
join study.traces as traces on traces.traces_id = risk.searched_id
left join study.run as run on run.run_id = traces.run_id
join score on score.leak_id = leak.leak_id and score.min_k = leak.min_k
where leak.release_id = $release_id
order by run.attack nulls first, traces.basis, leak.points, known.timetable, leak.leak_id
"""

DISCLOSED = """
with score as (
    select
        max(people) filter (metric = 'totally_disclosed') as people,
        max(estimate) filter (metric = 'totally_disclosed') as totally,
        sum(estimate) filter (metric in ('totally_disclosed', 'partly_disclosed')) as disclosed
    from metrics.leak
    where leak_id = $leak_id and min_k = $min_k
)

-- Wilson's interval, 95 %, as in metrics.leak.
select
    people,
    totally,
    disclosed,
    greatest(0, (disclosed + 1.9208 / people
        - 1.96 * sqrt(disclosed * greatest(0, 1 - disclosed) / people + 0.9604 / people / people))
        / (1 + 3.8416 / people)) as low,
    least(1, (disclosed + 1.9208 / people
        + 1.96 * sqrt(disclosed * greatest(0, 1 - disclosed) / people + 0.9604 / people / people))
        / (1 + 3.8416 / people)) as high
from score
where people > 0
"""

BY_SIZE = """
select
    min_k,
    max(people) filter (metric = 'prob_m') as people,
    max(estimate) filter (metric = 'totally_disclosed') as totally,
    max(estimate) filter (metric = 'partly_disclosed') as partly,
    max(estimate) filter (metric = 'hidden') as hidden,
    max(estimate) filter (metric = 'nothing') as no_habits,
    max(estimate) filter (metric = 'prob_m') as prob_m,
    max(estimate) filter (metric = 'effective') as effective_schedules
from metrics.leak
where leak_id = $leak_id
group by min_k
having max(people) filter (metric = 'prob_m') > 0
order by min_k
"""

CURVE = """
select metric, threshold as value, share
from metrics.leak_curve
where leak_id = $leak_id and min_k = $min_k and metric in ('prob_m', 'ssr', 'ntr', 'ssr_ntr')
order by metric, threshold
"""

BY_SLOT = """
select
    slot.name as slot,
    score.people,
    score.habits,
    score.sensitive,
    score.sensitive / score.people::double as share,
    score.chance
from metrics.leak_by_slot as score
join study.leak as leak on leak.leak_id = score.leak_id
join slots.timetable as slot on slot.schedule_id = leak.known_id and slot.number = score.number
where score.leak_id = $leak_id and score.min_k = $min_k
order by score.number
"""

EXTRACTED = """
select
    coalesce(slot.name, 'in no slot') as slot, score.lessons,
    score.usual_places as found, score.matched, score.habits as kept, score.habits_matched as kept_matched
from metrics.extraction as score
join study.leak as leak on leak.leak_id = score.leak_id
left join slots.timetable as slot on slot.schedule_id = leak.known_id and slot.number = score.number
where score.leak_id = $leak_id
order by score.number
"""
