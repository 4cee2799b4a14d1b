"""The week in the counts: how many cells are occupied, who moves when, and the busiest cells by hour."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from trajlab.report import words
from trajlab.report.contents import Contents
from trajlab.report.drawing import charts
from trajlab.report.evidence import Answer, figure
from trajlab.report.markup import Html, join, tag
from trajlab.report.page import tabs

TITLE = "Rhythm of the week"
POSITION = 30
TERMS = {
    "Occupied cells": "Cells with a published count in a slot. Longer periods are averaged onto one week.",
    "Changing cell": "Of the people in the published flows from a slot to the next, the share whose two cells "
    "differ. Flows that are not published count neither above nor below the line.",
    "Busiest cells": "The five cells of a release with the largest sum of published counts; people in them "
    "by hour of the day, averaged over all days.",
}

WEEK = """\
from report.week_rhythm
order by release_id, hour_of_week"""

BUSIEST = """\
select rank, label, hour_of_day, mean_people
from report.busiest_cell where release_id = $release_id
order by rank, hour_of_day"""

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def render(contents: Contents) -> Html | None:
    if not contents.releases:
        return None
    rhythm = contents.load_answer(WEEK)
    occupied = rhythm.drop("changing_cell")
    changing = replace(rhythm, frame=rhythm.frame.drop("occupied_cells").drop_nulls("changing_cell"))
    week = _week(occupied.frame["hour_of_week"])
    averaged = " Weeks are averaged onto one." if any(release.days > 7 for release in contents.releases) else ""
    more = len(contents.releases) > charts.SERIES
    first = f"The first {charts.SERIES} releases are drawn; the queries give all."
    return join(
        figure(
            "Occupied cells",
            charts.lines("Cells with a published count", _lines(contents, occupied, "occupied_cells"), week),
            occupied,
            note=f"Cells with a published count, over the week.{averaged}",
            show={"release_id": contents.name_of},
        ),
        figure(
            "People who change cell",
            charts.lines("Share who change cell", _lines(contents, changing, "changing_cell"), week, say=words.share),
            changing,
            note="Share of people who are in another cell in the next slot; smaller cells and longer slots raise it.",
            show={"release_id": contents.name_of, "changing_cell": words.share},
        )
        if len(changing.frame)
        else None,
        _busiest(contents),
        tag("p", first, cls="note") if more else None,
    )


def _lines(contents: Contents, answer: Answer, column: str) -> dict[str, charts.Points]:
    points: dict[str, list[tuple[float, float | None]]] = {release.name: [] for release in contents.releases}
    shown = answer.frame.filter(pl.col("release_id").is_in([release.id for release in contents.releases]))
    for release_id, hour, value in shown.select("release_id", "hour_of_week", column).iter_rows():
        points[contents.name_of(release_id)].append((hour, value))
    return dict(points)


def _week(hours: pl.Series) -> charts.Axis:
    """From midnight of the first weekday that the releases have to midnight after the last."""
    present = sorted({int(hour // 24) for hour in hours})
    days = range(present[0], present[-1] + 1)
    return charts.Axis(
        low=24 * days[0],
        high=24 * (days[-1] + 1),
        labels=[(24 * day + 12, _DAYS[day]) for day in days],
        rules=[24 * day for day in days[1:]],
        say=lambda hour: f"{_DAYS[int(hour // 24)]} {_clock(hour % 24)}",
    )


def _busiest(contents: Contents) -> Html | None:
    clock = charts.Axis(0, 24, [(hour, f"{hour:02}:00") for hour in range(0, 24, 6)], range(6, 24, 6), _clock)
    panels = []
    for release in contents.releases[: charts.SERIES]:
        answer = contents.load_answer(BUSIEST, release_id=release.id)
        cells: dict[str, list[tuple[float, float | None]]] = {}
        for rank, label, hour, people in answer.frame.iter_rows():
            cells.setdefault(f"{rank}. {words.short(label)}", []).append((float(hour), people))
        if cells:
            text = f"People in the busiest cells by hour of the day, {release.name}"
            drawing = charts.lines(text, dict(cells), clock)
            note = "Mean people per slot, by hour of the day."
            panels.append((release.name, figure("The busiest cells by hour", drawing, answer, note=note)))
    return tabs("busiest", panels) if panels else None


def _clock(hour: float) -> str:
    return f"{int(hour):02}:{round(hour % 1 * 60):02}"
