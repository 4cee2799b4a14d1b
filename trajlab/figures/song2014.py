"""Song et al., Not So Unique in the Crowd (2014): figures 2 to 4.

Its data: 633,798 people of one city for a week, 43 million records, about 1,700 antennas. Figure 1 is an example of
a trajectory and shows no result.
"""

from __future__ import annotations

from trajlab.figures._figure import Figure, Published

_NEEDS = "`trajlab risk LAB points:2` (and other numbers), and the same after `trajlab protect LAB cut:6h`"

_ASKED = """
with asked as (
    select distinct on (searched.protection, points)
        asked.risk_id,
        split_part(asked.knowledge, ':', 2)::integer as points,
        searched.protection,
        case searched.protection
            when 'none' then 'before'
            else 'windows of ' || split_part(searched.protection, ':', 2)
        end as series,
        length(searched.protection) * 100 + ascii(split_part(searched.protection, ':', 2)) as place
    from study.risk as asked
    join study.traces as searched on searched.traces_id = asked.searched_id
    where asked.release_id = $release_id
        and asked.knowledge like 'points:%'
        and searched.run_id is null
        and (searched.protection = 'none' or searched.protection like 'cut:%')
    order by searched.protection, points, searched.basis desc, asked.sample desc nulls first, asked.seed, asked.risk_id
)
"""

_DISTRIBUTION = _ASKED + """
select
    asked.series,
    curve.k as x,
    curve.people / (curve.at_most / curve.share) as estimate,
    null::double as low,
    null::double as high
from asked
join metrics.anonymity_curve as curve using (risk_id)
where asked.points = 2 and curve.scope = 'all' and {which}
order by asked.protection <> 'none', asked.place, curve.k
"""  # fmt: skip

FIGURES = [
    Figure(
        "song2014-fig2", "Uniqueness before and after cutting", "random points known", "share of unique trajectories",
        _ASKED + """
select asked.series, asked.points as x, score.estimate, score.low, score.high
from asked
join metrics.risk as score using (risk_id)
where score.scope = 'all' and score.metric = 'unique_share'
order by asked.protection <> 'none', asked.place, asked.points
""",
        _NEEDS, kind="lines",
        published=(Published("before", 2, 0.6), Published("windows of 6h", 2, 0.4)),
    ),
    Figure(
        "song2014-fig3", "People who were at the same places at the same times", "people that share two points",
        "share of trajectories",
        _DISTRIBUTION.format(which="curve.k <= 10 and asked.protection in ('none', 'cut:6h')"), _NEEDS,
        published=(Published("before", 1, 0.6), Published("windows of 6h", 1, 0.4)),
    ),
    Figure(
        "song2014-fig4", "The same for several windows, on logarithmic scales", "people that share two points",
        "share of trajectories",
        _DISTRIBUTION.format(which="true"), _NEEDS, kind="lines", log_x=True, log_y=True,
    ),
]  # fmt: skip
