"""Xu et al., Trajectory Recovery From Ash (WWW 2017): figures 2 to 11.

Its two data sets are not public: an operator's (100,000 people, one week) and an application's (15,500 people,
two weeks). Published numbers are those of its text. Figure 1 shows raw traces of five people and is not
drawn here; `lab.report(example_people=...)` shows days of people who may be shown.
"""

from __future__ import annotations

from trajlab.figures._figure import Figure, Published

_FEASIBILITY = "`trajlab feasibility`"
_ATTACK = "`trajlab attack LAB xu2017`"
_OPERATOR, _APPLICATION = "operator data", "application data"

_RUNS = """
with run as (
    select distinct on (attack) run_id, attack
    from study.run
    where release_id = $release_id
    order by attack, seed, run_id
),

pairing as (
    select run_id, min(pairing) as pairing from metrics.pair group by run_id
)
"""

_LIKE_IT = """
with base as (
    select release.index_name, release.slot_seconds, release.slots, release.slots_per_day, made.people
    from counts.release as release
    join study.release as made using (release_id)
    where release.release_id = $release_id
),

alike as (
    select release.release_id, release.index_name, release.slot_seconds, made.people
    from counts.release as release
    join study.release as made using (release_id)
    join base
        on release.slots // release.slots_per_day = base.slots // base.slots_per_day
        and {same}
),

run as (
    select distinct on (release_id) run_id, release_id
    from study.run
    where attack = 'xu2017'
    order by release_id, seed, run_id
),

varied as (
    select {varied} as x, run.run_id, {order_by} as place
    from alike
    join run on run.release_id = alike.release_id
    qualify count(*) over () > 1
)

select {series} as series, varied.x, score.estimate, score.low, score.high
from varied
join metrics.recovery as score on score.run_id = varied.run_id
where score.of = 'recovered' and score.metric = '{metric}' and score.pairing in ('greedy', 'none')
order by varied.place, varied.run_id, score.level
"""
_STAGE = "case score.level when 1 then '#1 nights' when 2 then '#2 days' else '#3 everything' end"
_TOP = "'top ' || score.level"

# The name of an index of stations holds a digest of them, so kind and size are compared by themselves.
_SAME_CELLS = """split_part(release.index_name, ':', 1) = split_part(base.index_name, ':', 1)
        and split_part(release.index_name, ':', -1) = split_part(base.index_name, ':', -1)
        and release.slot_seconds = base.slot_seconds"""

_FACTORS = {
    9: (
        "The impact of the size of cells", "cells",
        "release.slot_seconds = base.slot_seconds and made.people = base.people",
        "split_part(alike.index_name, ':', 1) || ' ' || split_part(alike.index_name, ':', -1)",
        "alike.index_name",
        (), (),
    ),
    10: (
        "The impact of the length of slots", "minutes",
        "release.index_name = base.index_name and made.people = base.people",
        "alike.slot_seconds / 60", "alike.slot_seconds",
        (Published(_OPERATOR, 30, 0.73), Published(_OPERATOR, 180, 0.82)),
        (Published(f"{_OPERATOR}, top 2", 30, 0.95), Published(f"{_OPERATOR}, top 2", 180, 0.98)),
    ),
    11: (
        "The impact of the number of people", "people",
        _SAME_CELLS,
        "alike.people", "alike.people",
        (Published(_OPERATOR, 1000, 0.99), Published(_OPERATOR, 100_000, 0.5)), (),
    ),
}  # fmt: skip


def _factor(number: int) -> list[Figure]:
    title, x, same, varied, order, accuracies, uniques = _FACTORS[number]
    given = {"same": same, "varied": varied, "order_by": order}
    needs = "`trajlab study` over several values"
    about = "Published numbers are those of stage #3." if accuracies else ""
    if number == 9:
        about = "The paper: 73% for sectors of base stations, 89% for districts, which no index here is equal to."
    return [
        Figure(
            f"xu2017-fig{number}a", f"{title}: accuracy", x, "share of slots in the right cell",
            _LIKE_IT.format(**given, series=_STAGE, metric="accuracy"), needs,
            across=True, published=accuracies, note=about,
        ),
        Figure(
            f"xu2017-fig{number}b", f"{title}: uniqueness of what is recovered", x, "share of tracks that are unique",
            _LIKE_IT.format(**given, series=_TOP, metric="unique_share"), needs, across=True, published=uniques,
        ),
    ]  # fmt: skip


FIGURES = [
    Figure(
        "xu2017-fig2", "Records in each person's most frequent places", "most frequent places", "share of records",
        """
select 'this release' as series, places as x, estimate, low, high
from metrics.place_share
where release_id = $release_id
order by places
""",
        _FEASIBILITY,
        published=(Published(_OPERATOR, 1, 0.36), Published(_OPERATOR, 5, 0.83), Published(_APPLICATION, 1, 0.76)),
    ),
    Figure(
        "xu2017-fig3", "People told from all others by a few points", "points known", "share of people",
        """
select
    case knowledge when 'top' then 'Top-K' when 'random' then 'Rand-K' else 'Cont-K' end as series,
    points as x,
    estimate,
    low,
    high
from metrics.singled_out
where release_id = $release_id
order by case knowledge when 'top' then 1 when 'random' then 2 else 3 end, points
""",
        _FEASIBILITY,
        published=(Published(f"{_OPERATOR}, Top-K", 3, 0.67), Published(f"{_OPERATOR}, Top-K", 5, 0.95)),
        note="The paper says above 95% for Top-5.",
    ),
    Figure(
        "xu2017-fig4", "Number of places in a night", "places from midnight to six", "share of nights",
        """
select 'this release' as series, places as x, estimate, low, high
from metrics.night_places
where release_id = $release_id and places <= 8
order by places
""",
        _FEASIBILITY,
        published=(Published(_OPERATOR, 1, 0.62), Published(_APPLICATION, 1, 0.88)),
        note="The paper counts people; here each night of a person counts, as the attack sees it.",
    ),
    Figure(
        "xu2017-fig5", "Time in the most frequent places of the night", "most frequent places",
        "share of the night",
        """
select 'this release' as series, places as x, estimate, low, high
from metrics.night_share
where release_id = $release_id
order by places
""",
        _FEASIBILITY,
        published=(Published(_OPERATOR, 1, 0.89), Published(_APPLICATION, 1, 0.95)),
    ),
    Figure(
        "xu2017-fig6", "Error of guessing the next place by day", "error in metres", "share of guesses, cumulative",
        """
select
    case model when 'velocity' then 'keeping pace (the paper)' else 'staying (a yardstick)' end as series,
    metres as x,
    estimate,
    low,
    high
from metrics.prediction_error
where release_id = $release_id and part = 'day'
order by model desc, metres
""",
        _FEASIBILITY, kind="lines",
        published=(Published(_OPERATOR, 1000, 0.74), Published(_APPLICATION, 500, 0.93)),
    ),
    Figure(
        "xu2017-fig7", "Information gain between two days", "information gain in bits", "share of pairs of days",
        """
select 'days of ' || days_of as series, (gain_from + gain_to) / 2 as x, estimate, low, high
from metrics.day_gain
where release_id = $release_id
order by days_of, bin
""",
        _FEASIBILITY, kind="lines",
        note="The paper gives no numbers: close to 0 for one person, close to 1 for two.",
    ),
    Figure(
        "xu2017-fig8a", "Accuracy after each stage of the recovery", "stage", "share of slots in the right cell",
        _RUNS + """
select
    run.attack as series,
    case score.level when 1 then '#1 nights' when 2 then '#2 days' else '#3 everything' end as x,
    score.estimate,
    score.low,
    score.high
from run
join pairing using (run_id)
join metrics.recovery as score on score.run_id = run.run_id and score.pairing = pairing.pairing
where score.metric = 'accuracy' and score.of = 'recovered'
order by
    case run.attack when 'xu2017' then 0 when 'stay' then 2 when 'shuffle' then 3 else 1 end,
    run.attack,
    score.level
""",
        _ATTACK,
        published=(
            Published(_OPERATOR, "#1 nights", 0.95), Published(_OPERATOR, "#3 everything", 0.73),
            Published(_APPLICATION, "#1 nights", 0.98), Published(_APPLICATION, "#3 everything", 0.91),
        ),
        note="Greedy pairing where it was run, as in the paper.",
    ),
    Figure(
        "xu2017-fig8b", "Recovery error", "error in metres", "share of points, cumulative",
        _RUNS + """
select run.attack as series, cdf.metres as x, cdf.share as estimate, null::double as low, null::double as high
from run
join pairing using (run_id)
join metrics.error_cdf as cdf on cdf.run_id = run.run_id and cdf.pairing = pairing.pairing
where cdf.metres <= 20000
order by
    case run.attack when 'xu2017' then 0 when 'stay' then 2 when 'shuffle' then 3 else 1 end,
    run.attack,
    cdf.metres
""",
        _ATTACK, kind="lines",
        published=(
            Published(_OPERATOR, 0, 0.73), Published(_OPERATOR, 1000, 0.79),
            Published(_APPLICATION, 0, 0.91), Published(_APPLICATION, 1000, 0.92),
        ),
    ),
    Figure(
        "xu2017-fig8c", "Uniqueness of recovered trajectories", "most frequent places known",
        "share that nobody else shares",
        _RUNS + """
select
    case score.of when 'truth' then 'true trajectories' else run.attack end as series,
    score.level as x,
    score.estimate,
    score.low,
    score.high
from run
join metrics.recovery as score using (run_id)
where score.metric = 'unique_share' and (score.of = 'recovered' or run.attack = 'xu2017')
order by
    score.of,
    case run.attack when 'xu2017' then 0 when 'stay' then 2 when 'shuffle' then 3 else 1 end,
    run.attack,
    score.level
""",
        _ATTACK,
        published=(Published("both data sets", 2, 0.95),),
        note="The paper says over 95% for the two most frequent locations.",
    ),
    *_factor(9), *_factor(10), *_factor(11),
]  # fmt: skip
