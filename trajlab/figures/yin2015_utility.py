"""Yin et al., Re-Identification Risk versus Data Utility (PLoS ONE 2015): figures 5 to 13, on the utility of flows.

The paper gives no loss in words: only that every curve of figures 6 to 13 is loss = -a risk^b + c, with R² above
0.99, and how b grows with what is known.
"""

from __future__ import annotations

from trajlab.figures._figure import Figure

_ASKED = """
with asked as (
    select step.tradeoff_id
    from study.tradeoff as tradeoff
    join study.tradeoff_step as step using (tradeoff_id)
    where tradeoff.release_id = $release_id
    group by step.tradeoff_id
    order by count(*) desc, step.tradeoff_id
    limit 1
),

zone as (
    select distinct step.zones_id, step.zones as name, od.zones as zones
    from asked
    join study.tradeoff_step as step using (tradeoff_id)
    join study.od as od on od.zones_id = step.zones_id and od.release_id = $release_id
),

ranked as (
    select zones_id, name, zones, row_number() over (order by zones, zones_id, name) as place, count(*) over () as sets
    from zone
)
"""

_BY_SIZE = _ASKED + """
select distinct
    point.measure || ', ' || ranked.zones || ' zones' as series,
    point.size_m as x,
    point.loss as estimate,
    null::double as low,
    null::double as high
from asked
join metrics.tradeoff as point using (tradeoff_id)
join ranked using (zones_id)
where point.flows = '{flows}' and {which} and point.loss is not null
order by series, x, estimate
"""  # fmt: skip

_BY_RISK = _ASKED + """,

point as (
    select
        ranked.place,
        ranked.zones || ' zones' as series,
        point.risk as x,
        point.loss as estimate,
        point.zones_id,
        point.knowledge,
        asked.tradeoff_id
    from asked
    join metrics.tradeoff as point using (tradeoff_id)
    join ranked using (zones_id)
    where point.step > 0
        and point.flows = '{flows}'
        and point.measure = '{measure}'
        and point.knowledge like '{knowledge}'
        and point.knowledge not like '%unordered%'
        and point.risk is not null
        and point.loss is not null
),

reach as (
    select place, series, zones_id, knowledge, tradeoff_id, min(x) as low, max(x) as high
    from point
    group by place, series, zones_id, knowledge, tradeoff_id
),

fitted as (
    select
        reach.place,
        reach.series || ', fitted: b = ' || round(fit.b, 2) || ', R² = ' || round(fit.r2, 3) as series,
        unnest([reach.low + (reach.high - reach.low) * n / 40 for n in range(41)]) as x,
        fit.a,
        fit.b,
        fit.c
    from reach
    join metrics.tradeoff_fit as fit
        on fit.tradeoff_id = reach.tradeoff_id
        and fit.zones_id = reach.zones_id
        and fit.knowledge = reach.knowledge
        and fit.flows = '{flows}'
        and fit.measure = '{measure}'
    where fit.b is not null
),

both_kinds as (
    select place, 1 as kind, series, x, estimate
    from point
    union all
    select place, 2 as kind, series, x, c - a * pow(x, b) as estimate
    from fitted
)

select series, x, estimate, null::double as low, null::double as high
from both_kinds
order by place, kind, x, estimate
"""  # noqa: S608  # fmt: skip

_NEEDS = "`trajlab study tradeoff LAB`"
_TWO = "`trajlab study tradeoff LAB --zones` with two sets of zones"
_FEW = "ranked.place = 1"
_MANY = "ranked.place = ranked.sets and ranked.sets > 1"
_SIZES = {
    "a": ("raw", _FEW, "the larger zones", _NEEDS),
    "b": ("raw", _MANY, "the smaller zones", _TWO),
    "c": ("constrained", _FEW, "the larger zones", _NEEDS),
    "d": ("constrained", _MANY, "the smaller zones", _TWO),
}
_KNOWN = {
    "a": ("top:2", "the top two places"),
    "b": ("top:3", "the top three places"),
    "c": ("points:4", "four points"),
    "d": ("points:8", "eight points"),
}
_MEASURES = {
    "all": "all flows",
    "pareto": "the largest flows",
    "backbone": "flows that stand out",
    "hotspot": "flows of busy zones",
}
_FLOWS = {"raw": "raw movements", "constrained": "movements constrained in time"}

FIGURES = [
    Figure(
        f"yin2015-fig5{panel}", f"Loss by the size of cells: {_FLOWS[flows]}, {zones}", "size of cells, metres",
        "loss of utility", _BY_SIZE.format(flows=flows, which=which), needs, kind="lines",
        note="Loss need not grow with every step: where the borders of cells lie counts, not their size alone.",
    )
    for panel, (flows, which, zones, needs) in _SIZES.items()
] + [
    Figure(
        f"yin2015-fig{number}{panel}", f"Loss of {told} against risk by {known}", "share of people singled out",
        "loss of utility", _BY_RISK.format(flows=flows, measure=measure, knowledge=knowledge), _NEEDS, kind="lines",
        share_x=True, curve=", fitted",
        note=f"{_FLOWS[flows].capitalize()}. The paper's curves have R² above 0.99.",
    )
    for number, (flows, (measure, told)) in enumerate(
        [(flows, measure) for flows in _FLOWS for measure in _MEASURES.items()], start=6
    )
    for panel, (knowledge, known) in _KNOWN.items()
]  # fmt: skip
