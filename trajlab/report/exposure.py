"""Which cells, which hours and which groups of people give most away, each for the question that found most."""

from __future__ import annotations

import polars as pl

from trajlab.report import words
from trajlab.report.contents import Contents, Published, parse_outlines
from trajlab.report.drawing import charts, maps
from trajlab.report.evidence import block, figure, table
from trajlab.report.markup import Html, join, tag
from trajlab.report.questions import HEADS, SHARES, Questions, share

SMALLEST_GROUP = 10
"""People of a group that is shown; a smaller one would tell of single people."""

CELLS = """\
from report.exposing_cell
where risk_id = $risk_id
order by singled_out desc, share desc, label, cell"""
HOURS = """\
select hour_of_day, known_points, of_people_singled_out, share
from report.exposing_hour
where risk_id = $risk_id order by hour_of_day"""
GROUPS = """\
from report.group_risk
where risk_id = $risk_id and persons >= $smallest
order by trait, unique_share desc, value"""
ALL_GROUPS = "select count(*) as groups from metrics.risk_by_group where risk_id = $risk_id"


def cells(contents: Contents, questions: Questions, release: Published) -> Html | None:
    row = questions.worst("exposing_cells")
    if row is None:
        return None
    answer = contents.load_answer(CELLS, risk_id=row["risk_id"])
    frame = answer.frame
    if not len(frame):
        return None
    short = answer.select("label", "people", "singled_out", "share")
    heads = {"people": "Known of"}
    backdrop, shapes = contents.backdrop, parse_outlines(frame["polygon"])
    drawing = (
        None
        if backdrop is None
        else maps.draw(
            f"Map of {words.count(len(frame), 'cell')} by people singled out, {release.name}",
            shapes,
            frame["singled_out"].cast(pl.Float64).to_numpy(),
            _titles(frame, backdrop.near(shapes)),
            backdrop,
            "People singled out",
            titled=maps.MOST_TITLED // 4,
        )
    )
    return figure(
        "Cells that give people away",
        drawing
        if drawing is not None
        else table("Cells by people singled out", short.frame.head(20), show=SHARES, heads=heads),
        short,
        note=f"People singled out of whom this cell is known ({questions.name_of(row)}). "
        + ("Cells that single out nobody are not drawn." if drawing is not None else "These cells are on no map."),
        show=SHARES,
        heads=heads,
    )


def _titles(frame: pl.DataFrame, near: list[str | None]) -> list[str]:
    rows = frame.select("label", "people", "singled_out").iter_rows()
    return [
        f"{maps.name_cell(label, place)}\n"
        f"{words.number(alone)} singled out of {words.people(known)} of whom it is known"
        for (label, known, alone), place in zip(rows, near, strict=True)
    ]


def hours(contents: Contents, questions: Questions, release: Published) -> Html | None:
    row = questions.worst("exposing_slots")
    if row is None:
        return None
    answer = contents.load_answer(HOURS, risk_id=row["risk_id"])
    bars = [(f"{hour:02}:00", share) for hour, share in answer.frame.select("hour_of_day", "share").iter_rows()]
    most = max(bars, key=lambda bar: bar[1])
    if not most[1]:
        return None
    return figure(
        "Hours that give people away",
        charts.columns(f"Share of known points that are of people singled out, {release.name}", bars, say=words.share),
        answer,
        note="Share of the points known at this hour of the day that are of people singled out "
        f"({questions.name_of(row)}). "
        f"The most exposing hour begins at {most[0]}: {words.share(most[1])}.",
        show=SHARES,
    )


def groups(contents: Contents, questions: Questions) -> Html | None:
    ranked = sorted(questions.rows, key=lambda row: (row is not questions.lead, -share(row)))
    for row in ranked:
        everything = contents.load_answer(ALL_GROUPS, risk_id=row["risk_id"]).frame
        if len(everything) and everything["groups"][0]:
            break
    else:
        return None
    answer = contents.load_answer(GROUPS, risk_id=row["risk_id"], smallest=SMALLEST_GROUP)
    small = int(everything["groups"][0]) - len(answer.frame)
    hidden = f" {words.count(small, 'group')} of fewer than {SMALLEST_GROUP} people not shown." if small else ""
    show = {**SHARES, "trait": _short, "value": _short}
    heads = {**HEADS, "trait": "Group by"}
    shown = answer.drop("risk_id", "persons").frame
    return block(
        join(
            tag("h3", "Risk by group"),
            tag("p", f"A mean hides those who stand out, so the worst tenth is beside it.{hidden}", cls="note"),
            table(f"By group: {questions.name_of(row)}", shown, show=show, heads=heads) if len(shown) else None,
        ),
        answer,
    )


def _short(name: str) -> str:
    return words.short(name, 30)
