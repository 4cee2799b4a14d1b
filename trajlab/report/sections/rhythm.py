"""The week in the counts: how many cells are occupied, who moves when, and the busiest cells by hour."""

from __future__ import annotations

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

OCCUPIED = """
with calendar as (
    select release_id, starts, slot_seconds, unnest(range(slots))::integer as slot
    from counts.release
),

occupied as (
    select release_id, slot, count(*) as cells
    from counts.occupancy
    group by release_id, slot
),

-- Seconds since Monday 00:00; 1970 began on a Thursday. At most four points an hour.
placed as (
    select
        calendar.release_id,
        (epoch(starts + to_seconds(slot * slot_seconds))::bigint + 259200) % 604800 as second,
        greatest(slot_seconds, 900) as step,
        coalesce(occupied.cells, 0) as cells
    from calendar
    left join occupied using (release_id, slot)
)

select release_id, second // step * step / 3600.0::double as hour_of_week, avg(cells) as occupied_cells
from placed
group by all
order by release_id, hour_of_week
"""

CHANGING = """
with move as (
    select
        release_id,
        slot,
        sum(people) as people,
        coalesce(sum(people) filter (origin <> destination), 0) as changing
    from counts.flow
    group by release_id, slot
),

placed as (
    select
        move.release_id,
        (epoch(starts + to_seconds(slot * slot_seconds))::bigint + 259200) % 604800 as second,
        greatest(slot_seconds, 900) as step,
        people,
        changing
    from move
    join counts.release as release using (release_id)
)

select
    release_id,
    second // step * step / 3600.0::double as hour_of_week,
    sum(changing) / sum(people)::double as changing_cell
from placed
group by all
order by release_id, hour_of_week
"""

BUSIEST = """
with busiest as (
    select cell, row_number() over (order by sum(people) desc, cell) as place
    from counts.occupancy
    where release_id = $release_id
    group by cell
    qualify place <= 5
),

calendar as (
    select index_id, slot, hour(starts + to_seconds(slot * slot_seconds)) as hour_of_day
    from (select *, unnest(range(slots))::integer as slot from counts.release where release_id = $release_id)
)

select
    busiest.place,
    coalesce(cell.label, busiest.cell::varchar) as label,
    calendar.hour_of_day,
    coalesce(sum(occupancy.people), 0) / count(*)::double as mean_people
from calendar
cross join busiest
left join counts.occupancy as occupancy
    on occupancy.release_id = $release_id and occupancy.slot = calendar.slot and occupancy.cell = busiest.cell
left join grid.cell as cell on cell.index_id = calendar.index_id and cell.cell = busiest.cell
group by all
order by busiest.place, calendar.hour_of_day
"""

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def render(contents: Contents) -> Html | None:
    if not contents.releases:
        return None
    occupied, changing = contents.ask(OCCUPIED), contents.ask(CHANGING)
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
        answer = contents.ask(BUSIEST, release_id=release.id)
        cells: dict[str, list[tuple[float, float | None]]] = {}
        for place, label, hour, people in answer.frame.iter_rows():
            cells.setdefault(f"{place}. {words.short(label)}", []).append((float(hour), people))
        if cells:
            told = f"People in the busiest cells by hour of the day, {release.name}"
            drawing = charts.lines(told, dict(cells), clock)
            note = "Mean people per slot, by hour of the day."
            panels.append((release.name, figure("The busiest cells by hour", drawing, answer, note=note)))
    return tabs("busiest", panels) if panels else None


def _clock(hour: float) -> str:
    return f"{int(hour):02}:{round(hour % 1 * 60):02}"
