"""Ma et al., You Can Hide, But Your Periodic Schedule Can't (2017): figures 1, 3 and 4.

Its data: 10,126 students of Tsinghua University, 16 weeks of Wi-Fi in 111 buildings. Figure 2 is an example of an
attack and shows no result.
"""

from __future__ import annotations

from trajlab.figures._figure import Figure, Published

_CAMPUS = "Tsinghua"
_NEEDS = "`trajlab schedule LAB TIMETABLE`"

_COMING = """
with moment as (
    select unnest(range(0, 1440, 15))::integer as minute
),

counted as (
    select
        minute // 15 * 15 as minute,
        sum(arrivals) as arrivals,
        sum(departures) as departures
    from metrics.coming
    where release_id = $release_id and weekday <= 5
    group by minute // 15 * 15
),

both_ways as (
    select 'come' as series, moment.minute, coalesce(counted.arrivals, 0) as people
    from moment
    left join counted using (minute)
    union all
    select 'leave' as series, moment.minute, coalesce(counted.departures, 0) as people
    from moment
    left join counted using (minute)
)

select series, minute / 60.0::double as x, people::double as estimate, null::double as low, null::double as high
from both_ways
where exists (select 1 from counted)
order by series, x
"""

_ASKED = """
with asked as (
    select leak.leak_id, leak.risk_id, leak.min_k, leak.points
    from study.leak as leak
    join study.schedule as known on known.schedule_id = leak.known_id
    join study.risk as risk on risk.risk_id = leak.risk_id
    join study.traces as searched on searched.traces_id = risk.searched_id
    where leak.release_id = $release_id
    order by
        searched.run_id nulls first,
        searched.basis = 'records' desc,
        starts_with(known.timetable, 'found'),
        abs(leak.points - 3),
        leak.points,
        abs(leak.min_k - 4),
        leak.leak_id
    limit 1
)
"""

_CROWDS = _ASKED + """
select
    asked.points || case asked.points when 1 then ' point' else ' points' end || ' known' as series,
    curve.k as x,
    curve.share as estimate,
    null::double as low,
    null::double as high
from asked
join metrics.anonymity_curve as curve on curve.risk_id = asked.risk_id and curve.scope = 'all'
order by curve.k
"""  # fmt: skip

_RATES = _ASKED + """,

place as (
    select unnest(range(0, 101)) as hundredths
)

select
    case curve.metric when 'prob_m' then 'prob-m' when 'ssr_ntr' then 'ssr/ntr' else curve.metric end
    || ', crowds of ' || asked.min_k || ' or more' as series,
    place.hundredths / 100.0::double as x,
    coalesce(max(curve.share) filter (round(100 * curve.value) <= place.hundredths), 0) as estimate,
    null::double as low,
    null::double as high
from asked
join metrics.leak_curve as curve on curve.leak_id = asked.leak_id and curve.min_k = asked.min_k
cross join place
where curve.metric in ({which})
group by curve.metric, asked.min_k, place.hundredths
order by curve.metric desc, place.hundredths
"""  # fmt: skip

_PEOPLE = "share of people with at most so much"

FIGURES = [
    Figure(
        "ma2017-fig1", "When people come to places and leave them", "hour of a weekday",
        "people in a quarter of an hour", _COMING, "`trajlab schedule LAB found`", kind="lines", shares=False,
        note="All places of the release, Monday to Friday, summed over all weeks.",
    ),
    Figure(
        "ma2017-fig3", "How large a crowd a few points leave", "size of the crowd, k", "share of people with K ≤ k",
        _CROWDS, _NEEDS, kind="lines", log_x=True, published=(Published(_CAMPUS, 1, 0.56),),
    ),
    Figure(
        "ma2017-fig4a", "The largest chance to meet a crowd in a slot", "attack probability, prob-m", _PEOPLE,
        _RATES.format(which="'prob_m'"), _NEEDS, kind="lines", published=(Published(_CAMPUS, 0.8, 0.86),),
        note="The paper is about crowds of 4 or more; its mean is 0.65.",
    ),
    Figure(
        "ma2017-fig4b", "Slots that can be guessed, and slots with a habit", "share of slots", _PEOPLE,
        _RATES.format(which="'ssr', 'ntr'"), _NEEDS, kind="lines",
    ),
    Figure(
        "ma2017-fig4c", "How many of their habits can be guessed", "slots that can be guessed, of those with a habit",
        _PEOPLE, _RATES.format(which="'ssr_ntr'"), _NEEDS, kind="lines",
        published=(Published(_CAMPUS, 0.0, 0.16), Published(_CAMPUS, 0.99, 0.72)),
        note="In the paper 28% of schedules are totally and 56% partly disclosed in crowds of 4 or more: 72% of people "
        "are below 1, and 16% at 0.",
    ),
]  # fmt: skip
