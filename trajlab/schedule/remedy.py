"""A simulated remedy: how far schedule leakage falls when places are merged or slots lengthened (ma2017, section V).

One release for each index and slot, the same question asked of each. What is published are slots, one
place for each, so that a longer slot blurs both what an adversary knows and what there is to learn.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import polars as pl

from trajlab.errors import ScheduleError
from trajlab.release.slots import slot_seconds
from trajlab.study.run import each_once

if TYPE_CHECKING:
    from trajlab.lab import Lab

SCORES = """
with asked as (
    select unnest($leaks) as leak_id, unnest($cases) as n
),

size as (
    select asked.n, median(person.k)::double as median_k
    from asked
    join metrics.person_leak as person using (leak_id)
    group by asked.n
),

score as (
    select
        asked.n,
        asked.leak_id,
        max(leak.people) filter (leak.metric = 'measured') as people,
        max(leak.estimate) filter (leak.metric = 'measured') as measured,
        max(leak.estimate) filter (leak.metric = 'prob_m') as prob_m,
        max(leak.estimate) filter (leak.metric = 'ssr') as ssr,
        max(leak.estimate) filter (leak.metric = 'ntr') as ntr,
        max(leak.estimate) filter (leak.metric = 'ssr_ntr') as ssr_ntr,
        max(leak.estimate) filter (leak.metric = 'totally_disclosed') as totally,
        max(leak.estimate) filter (leak.metric = 'partly_disclosed') as partly,
        max(leak.estimate) filter (leak.metric = 'effective') as effective
    from asked
    join metrics.leak as leak using (leak_id)
    where leak.min_k = $min_k
    group by asked.n, asked.leak_id
)

select
    score.people,
    size.median_k,
    score.measured,
    score.prob_m,
    1 - score.prob_m / nullif(first_value(score.prob_m) over in_order, 0) as prob_m_fell,
    score.ssr,
    1 - score.ssr / nullif(first_value(score.ssr) over in_order, 0) as ssr_fell,
    score.ntr,
    score.ssr_ntr,
    score.totally,
    score.partly,
    score.effective,
    score.leak_id
from score
join size using (n)
window in_order as (order by score.n)
order by score.n
"""


def remedies(
    lab: Lab, timetable: Any, *, index: Any, slot: Any, basis: str, release: dict[str, Any], question: dict[str, Any]
) -> pl.DataFrame:
    """One row per index and slot, in the order given; the first is what the others are compared with."""
    cases = list(
        itertools.product(each_once("index", index), dict.fromkeys(map(slot_seconds, each_once("slot", slot))))
    )
    if len(cases) < 2:
        raise ScheduleError(
            'nothing to compare: give index or slot as a list of at least two, such as index=["places", "places:1"]'
        )
    leaks = []
    for of, seconds in cases:
        made = lab.release(of, seconds, **release)
        leaks.append(lab.schedule(timetable, made, basis=basis, **question))
    scores = lab.sql(SCORES, leaks=[leak.id for leak in leaks], cases=list(range(len(cases))), min_k=leaks[0].min_k)
    settings = pl.DataFrame({"index": [of for of, _ in cases], "slot_minutes": [seconds / 60 for _, seconds in cases]})
    return pl.concat([settings, scores], how="horizontal")
