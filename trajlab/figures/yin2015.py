"""Yin et al., Re-Identification Risk versus Data Utility (PLoS ONE 2015): figures 2 to 4.

Its data: 4.57 million mobile users of Shenzhen for 34 days, 3,036 base stations. Figures 5 to 13 are about the
utility of flows (`yin2015_utility`).
"""

from __future__ import annotations

from trajlab.figures._figure import Figure, Published

_SHENZHEN = "Shenzhen"

_CURVE = """
with asked as (
    select distinct on (asked.knowledge)
        asked.risk_id,
        asked.knowledge,
        split_part(asked.knowledge, ':', 2) as places,
        split_part(asked.in_full, ':', 3) as told_order
    from study.risk as asked
    join study.traces as searched on searched.traces_id = asked.searched_id
    where asked.release_id = $release_id
        and asked.knowledge like 'top:%'
        and searched.run_id is null
        and searched.protection = 'none'
    order by asked.knowledge, searched.basis = 'records' desc, asked.sample desc nulls first, asked.risk_id
),

scope as (
    select risk_id, max(scope) filter (scope in ('all', 'frequent')) as scope
    from metrics.anonymity_curve
    group by risk_id
)

select
    {series} as series,
    curve.k as x,
    curve.share as estimate,
    null::double as low,
    null::double as high
from asked
join scope using (risk_id)
join metrics.anonymity_curve as curve on curve.risk_id = asked.risk_id and curve.scope = scope.scope
where {which}
order by series, curve.k
"""
_TOP = "'top ' || asked.places || ' ' || asked.told_order"
_K = "size of the crowd, k"
_AT_MOST = "share of frequent users with K ≤ k"

_POINTS = """
with asked as (
    select distinct on (points)
        asked.risk_id,
        split_part(asked.knowledge, ':', 2)::integer as points
    from study.risk as asked
    join study.traces as searched on searched.traces_id = asked.searched_id
    where asked.release_id = $release_id
        and asked.knowledge like 'points:%'
        and searched.run_id is null
        and searched.protection = 'none'
    order by points, searched.basis = 'records' desc, asked.sample desc nulls first, asked.seed, asked.risk_id
)

select 'this release' as series, asked.points as x, score.estimate, score.low, score.high
from asked
join metrics.risk as score using (risk_id)
where score.scope = 'all' and score.metric = 'unique_share'
order by asked.points
"""

_SCALES = """
with base as (
    select slot_seconds, slots from counts.release where release_id = $release_id
),

scale as (
    select
        release.release_id,
        coalesce(try_cast(split_part(release.index_name, ':', 3) as integer), 0) as metres
    from counts.release as release
    join base on release.slot_seconds = base.slot_seconds and release.slots = base.slots
    where split_part(release.index_name, ':', 1) = 'stations'
),

asked as (
    select distinct on (scale.metres, asked.knowledge)
        asked.risk_id,
        scale.metres,
        split_part(asked.knowledge, ':', 1) as kind,
        split_part(asked.knowledge, ':', 2) as size
    from scale
    join study.risk as asked on asked.release_id = scale.release_id
    join study.traces as searched on searched.traces_id = asked.searched_id
    where searched.run_id is null and searched.protection = 'none' and asked.knowledge not like '%unordered%'
    order by
        scale.metres,
        asked.knowledge,
        searched.basis = 'records' desc,
        asked.sample desc nulls first,
        asked.risk_id
),

varied as (
    select * from asked where kind = '{kind}' qualify count(*) over (partition by size) > 1
)

select '{told} ' || varied.size as series, varied.metres as x, score.estimate, score.low, score.high
from varied
join metrics.risk as score using (risk_id)
where score.metric = 'unique_share'
    and score.scope = case
        when '{kind}' <> 'top' then 'all'
        when varied.risk_id in (select risk_id from metrics.risk where scope = 'frequent') then 'frequent'
        else 'all'
    end
order by length(varied.size), varied.size, varied.metres
"""

_TOPS = "`trajlab risk LAB top:1 top:2 top:3`"
_MERGED = "releases with --index stations, stations:200 … stations:2800 and `trajlab risk` on each"

FIGURES = [
    Figure(
        "yin2015-fig2a", "How large a crowd top locations leave, in order", _K, _AT_MOST,
        _CURVE.format(series=_TOP, which="asked.places <> 'variable' and asked.told_order = 'ordered'"), _TOPS,
        kind="lines", log_x=True,
        published=(
            Published(f"{_SHENZHEN}, top 1", 1, 0.0), Published(f"{_SHENZHEN}, top 2", 1, 0.17),
            Published(f"{_SHENZHEN}, top 3", 1, 0.49),
        ),
    ),
    Figure(
        "yin2015-fig2b", "How large a crowd top locations leave, in any order", _K, _AT_MOST,
        _CURVE.format(series=_TOP, which="asked.places <> 'variable' and asked.told_order = 'unordered'"),
        "`trajlab risk LAB top:1:unordered top:2:unordered top:3:unordered`", kind="lines", log_x=True,
        published=(Published(f"{_SHENZHEN}, top 2", 1, 0.12),),
        note="The paper says nearly 5% less than with the order, which is 17%.",
    ),
    Figure(
        "yin2015-fig2c", "Top two locations and lists of variable length", _K, _AT_MOST,
        _CURVE.format(series=_TOP, which="asked.places in ('2', 'variable')"),
        "`trajlab risk LAB top:2 top:2:unordered top:variable top:variable:unordered`", kind="lines", log_x=True,
        published=(Published(f"{_SHENZHEN}, top 2 ordered", 1, 0.17),),
    ),
    Figure(
        "yin2015-fig3", "People singled out by points in space and time", "points known", "share of people",
        _POINTS, "`trajlab risk LAB points:1 points:2 points:4 points:8`", kind="lines",
        published=(Published(_SHENZHEN, 4, 0.75), Published(_SHENZHEN, 8, 0.80)),
    ),
    Figure(
        "yin2015-fig4a", "Merging base stations against top locations", "stations merged within metres",
        "share of frequent users singled out",
        _SCALES.format(kind="top", told="top"), _MERGED, kind="lines", across=True,
        published=(
            Published(f"{_SHENZHEN}, top 2", 0, 0.17), Published(f"{_SHENZHEN}, top 2", 2800, 0.01),
            Published(f"{_SHENZHEN}, top 3", 0, 0.49), Published(f"{_SHENZHEN}, top 3", 2800, 0.12),
        ),
    ),
    Figure(
        "yin2015-fig4b", "Merging base stations against points", "stations merged within metres",
        "share of people singled out",
        _SCALES.format(kind="points", told="points"), _MERGED, kind="lines", across=True,
        published=(
            Published(f"{_SHENZHEN}, 4 points", 0, 0.75), Published(f"{_SHENZHEN}, 4 points", 2800, 0.40),
            Published(f"{_SHENZHEN}, 8 points", 0, 0.80), Published(f"{_SHENZHEN}, 8 points", 2800, 0.64),
        ),
    ),
]  # fmt: skip
