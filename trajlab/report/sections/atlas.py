"""Where people are counted: the cells of each release, coloured by how many people they hold."""

from __future__ import annotations

import numpy as np
import polars as pl

from trajlab.report import words
from trajlab.report.contents import MOST_MAPPED, Contents, Published, parse_outlines
from trajlab.report.drawing import maps
from trajlab.report.evidence import figure, table
from trajlab.report.markup import Child, Html, join, tag
from trajlab.report.page import tabs

TITLE = "Map"
POSITION = 20
NEEDS = "no cell of this release has a place on the map; cells of a published table need coordinates"
TERMS = {
    "Mean people per slot": "Sum of a cell's published counts, divided by the number of slots of the release. "
    "Slots in which the cell is not published count as nobody.",
}

CELLS = """\
from report.people_by_cell
where release_id = $release_id
order by mean_people desc, label, cell"""
HOURS = """\
from report.people_by_cell_hour
where release_id = $release_id
order by cell, hour_of_day"""


def render(contents: Contents) -> Html | None:
    drawn = contents.releases[:MOST_MAPPED]
    if not drawn:
        return None
    more = len(contents.releases) - len(drawn)
    titled = maps.MOST_TITLED // len(drawn)
    return join(
        tabs("map", [(release.name, _panel(contents, release, titled)) for release in drawn]),
        tag("p", f"The first {MOST_MAPPED} releases are drawn; {more} more are in the tables.", cls="note")
        if more
        else None,
    )


def _panel(contents: Contents, release: Published, titled: int) -> Child:
    answer = contents.load_answer(CELLS, release_id=release.id)
    frame = answer.frame
    if not len(frame):
        return tag("p", "No count was large enough to be published, so there is no cell to draw.")
    short = answer.drop("release_id", "cell", "polygon", "lon0", "lat0")
    backdrop, shapes, pointed = contents.backdrop, parse_outlines(frame["polygon"]), len(frame) <= titled
    near: list[str | None] = backdrop.near(shapes) if backdrop is not None and pointed else []
    drawing = (
        None
        if backdrop is None
        else maps.draw(
            f"Map of {words.count(len(frame), 'cell')} by mean people per slot, {release.name}",
            shapes,
            frame["mean_people"].to_numpy(),
            _titles(frame, near) if pointed else (),
            backdrop,
            "Mean people per slot",
            titled=titled,
            hours=_hours(contents, release, frame) if pointed else None,
        )
    )
    if drawing is None:
        return figure(
            "The busiest cells",
            table("Cells by mean people per slot", short.frame.head(20)),
            short,
            note="These cells have no place on a map.",
        )
    busiest = f"The busiest cell is {maps.name_cell(frame['label'][0], near[0])}. " if near and near[0] else ""
    said = f"Point at a cell for its values. {busiest}" if pointed else ""
    return figure(
        "Where people are counted", drawing, short, note=f"{said}Equal areas on the map are equal on the ground."
    )


def _titles(frame: pl.DataFrame, near: list[str | None]) -> list[str]:
    columns = ("label", "mean_people", "largest_count", "published_slots", "slots_with_one_person")
    return [
        f"{maps.name_cell(label, place)}\n{words.number(mean)} on average, {words.number(most)} at most\n"
        f"one person in {words.number(alone)} of {words.count(slots, 'count')}"
        for (label, mean, most, slots, alone), place in zip(frame.select(columns).iter_rows(), near, strict=True)
    ]


def _hours(contents: Contents, release: Published, frame: pl.DataFrame) -> maps.Hours | None:
    """People by hour of the day, in the order of the cells; None where slots are longer than half a day."""
    found = contents.load_answer(HOURS, release_id=release.id).frame
    hours = sorted(found["hour_of_day"].unique()) if len(found) else []
    if len(hours) < 2:
        return None
    row = {cell: n for n, cell in enumerate(frame["cell"].to_list())}
    values = np.zeros((len(frame), len(hours)))
    at = [row[cell] for cell in found["cell"].to_list()]
    values[at, np.searchsorted(hours, found["hour_of_day"].to_numpy())] = found["people_per_slot"].to_numpy()
    return maps.Hours(hours, values)
