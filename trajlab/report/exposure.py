"""Which cells, which hours and which groups of people give most away, each for the question that found most."""

from __future__ import annotations

import polars as pl

from trajlab.report import words
from trajlab.report.asked import SHARES, Asked, share
from trajlab.report.contents import Contents, Published
from trajlab.report.drawing import charts, maps
from trajlab.report.evidence import Answer, block, figure, table
from trajlab.report.markup import Html, join, tag
from trajlab.spatial._projection import LocalMetres

SMALLEST_GROUP = 10
"""People of a group that is shown; a smaller one would tell of single people."""

CELLS = """
select
    coalesce(cell.label, exposure.cell::varchar) as label,
    exposure.people as known_of,
    exposure.singled_out,
    exposure.share,
    cell.polygon,
    index.lon0,
    index.lat0
from metrics.exposure as exposure
join study.risk as asked on asked.risk_id = exposure.risk_id
join counts.release as release on release.release_id = asked.release_id
left join grid.index as index on index.index_id = release.index_id
left join grid.cell as cell on cell.index_id = release.index_id and cell.cell = exposure.cell
where exposure.risk_id = $risk_id and exposure.kind = 'cell' and exposure.singled_out > 0
order by exposure.singled_out desc, exposure.share desc, label, exposure.cell
"""

HOURS = """
select
    hour(release.starts + to_seconds(exposure.slot * release.slot_seconds)) as hour_of_day,
    sum(exposure.people)::bigint as known_points,
    sum(exposure.singled_out)::bigint as of_people_singled_out,
    sum(exposure.singled_out) / sum(exposure.people)::double as share
from metrics.exposure as exposure
join study.risk as asked on asked.risk_id = exposure.risk_id
join counts.release as release on release.release_id = asked.release_id
where exposure.risk_id = $risk_id and exposure.kind = 'slot'
group by hour_of_day
order by hour_of_day
"""

GROUPS = """
with large as (
    select trait.trait, trait.value
    from metrics.target as target
    join records.trait as trait on trait.person = target.person
    where target.risk_id = $risk_id
    group by trait.trait, trait.value
    having count(distinct target.person) >= $smallest
)

select
    risk.trait,
    risk.value,
    risk.people,
    risk.unique_share as singled_out,
    risk.low,
    risk.high,
    risk.mean_risk,
    risk.worst_decile_risk as worst_tenth,
    risk.median_k as median_crowd
from metrics.risk_by_group as risk
join large on large.trait = risk.trait and large.value = risk.value
where risk.risk_id = $risk_id
order by risk.trait, risk.unique_share desc, risk.value
"""
ALL_GROUPS = "select count(*) as groups from metrics.risk_by_group where risk_id = $risk_id"


def cells(contents: Contents, asked: Asked, release: Published) -> Html | None:
    row = asked.worst("exposing_cells")
    if row is None:
        return None
    answer = contents.ask(CELLS, risk_id=row["risk_id"])
    frame = answer.frame
    if not len(frame):
        return None
    short = Answer(answer.sql, answer.params, frame.drop("polygon", "lon0", "lat0"))
    people = frame["singled_out"].cast(pl.Float64).to_numpy()
    drawing = maps.draw(
        f"Map of {words.counted(len(frame), 'cell')} by people singled out, {release.name}",
        frame["polygon"].to_list(),
        people,
        people,
        _titles(frame),
        LocalMetres(frame["lon0"][0] or 0.0, frame["lat0"][0] or 0.0),
        "People singled out",
        titled=maps.MOST_TITLED // 4,
    )
    return figure(
        "Cells that give people away",
        drawing if drawing is not None else table("Cells by people singled out", short.frame.head(20), show=SHARES),
        short,
        note=f"People singled out of whom this cell is known ({asked.called(row)}). "
        + ("Cells that single out nobody are not drawn." if drawing is not None else "These cells are on no map."),
        show=SHARES,
    )


def _titles(frame: pl.DataFrame) -> list[str]:
    return [
        f"{words.short(label)}\n{words.number(alone)} singled out of {words.people(known)} of whom it is known"
        for label, known, alone in frame.select("label", "known_of", "singled_out").iter_rows()
    ]


def hours(contents: Contents, asked: Asked, release: Published) -> Html | None:
    row = asked.worst("exposing_slots")
    if row is None:
        return None
    answer = contents.ask(HOURS, risk_id=row["risk_id"])
    bars = [(f"{hour:02}:00", share) for hour, share in answer.frame.select("hour_of_day", "share").iter_rows()]
    most = max(bars, key=lambda bar: bar[1])
    if not most[1]:
        return None
    return figure(
        "Hours that give people away",
        charts.columns(f"Share of known points that are of people singled out, {release.name}", bars, say=words.share),
        answer,
        note=f"Share of the points known at this hour of the day that are of people singled out ({asked.called(row)}). "
        f"The most exposing hour begins at {most[0]}: {words.share(most[1])}.",
        show=SHARES,
    )


def groups(contents: Contents, asked: Asked) -> Html | None:
    ranked = sorted(asked.rows, key=lambda row: (row is not asked.lead, -share(row)))
    for row in ranked:
        everything = contents.ask(ALL_GROUPS, risk_id=row["risk_id"]).frame
        if len(everything) and everything["groups"][0]:
            break
    else:
        return None
    answer = contents.ask(GROUPS, risk_id=row["risk_id"], smallest=SMALLEST_GROUP)
    small = int(everything["groups"][0]) - len(answer.frame)
    hidden = f" {words.counted(small, 'group')} of fewer than {SMALLEST_GROUP} people not shown." if small else ""
    show = {**SHARES, "trait": _short, "value": _short}
    heads = {"trait": "Group by", "mean_risk": "Mean risk", "worst_tenth": "Worst tenth"}
    return block(
        join(
            tag("h3", "Risk by group"),
            tag("p", f"A mean hides those who stand out, so the worst tenth is beside it.{hidden}", cls="note"),
            table(f"By group: {asked.called(row)}", answer.frame, show=show, heads=heads)
            if len(answer.frame)
            else None,
        ),
        answer,
    )


def _short(name: str) -> str:
    return words.short(name, 30)
