"""Where people are counted: the cells of each release, coloured by how many people they hold."""

from __future__ import annotations

import polars as pl

from trajlab.report import words
from trajlab.report.contents import Contents, Published
from trajlab.report.drawing import maps
from trajlab.report.evidence import figure, table
from trajlab.report.markup import Child, Html, join, tag
from trajlab.report.page import tabs
from trajlab.spatial._projection import LocalMetres

TITLE = "Map"
POSITION = 20
TERMS = {
    "Mean people per slot": "Sum of a cell's published counts, divided by the number of slots of the release. "
    "Slots in which the cell is not published count as nobody.",
}
MOST_MAPS = 12

CELLS = """\
from report.people_by_cell
where release_id = $release_id
order by mean_people desc, label, cell"""


def render(contents: Contents) -> Html | None:
    drawn = contents.releases[:MOST_MAPS]
    if not drawn:
        return None
    more = len(contents.releases) - len(drawn)
    titled = maps.MOST_TITLED // len(drawn)
    return join(
        tabs("map", [(release.name, _panel(contents, release, titled)) for release in drawn]),
        tag("p", f"The first {MOST_MAPS} releases are drawn; {more} more are in the tables.", cls="note")
        if more
        else None,
    )


def _panel(contents: Contents, release: Published, titled: int) -> Child:
    answer = contents.load_answer(CELLS, release_id=release.id)
    frame = answer.frame
    if not len(frame):
        return tag("p", "No count was large enough to be published, so there is no cell to draw.")
    short = answer.drop("release_id", "cell", "polygon", "lon0", "lat0")
    drawing = maps.draw(
        f"Map of {words.count(len(frame), 'cell')} by mean people per slot, {release.name}",
        frame["polygon"].to_list(),
        frame["mean_people"].to_numpy(),
        frame["mean_people"].to_numpy(),
        _titles(frame) if len(frame) <= titled else (),
        LocalMetres(frame["lon0"][0] or 0.0, frame["lat0"][0] or 0.0),
        "Mean people per slot",
        titled=titled,
    )
    if drawing is None:
        return figure(
            "The busiest cells",
            table("Cells by mean people per slot", short.frame.head(20)),
            short,
            note="These cells have no place on a map.",
        )
    pointed = "Point at a cell for its values. " if len(frame) <= titled else ""
    return figure(
        "Where people are counted", drawing, short, note=f"{pointed}Equal areas on the map are equal on the ground."
    )


def _titles(frame: pl.DataFrame) -> list[str]:
    return [
        f"{words.short(label)}\n{words.number(mean)} on average, {words.number(most)} at most\n"
        f"one person in {words.number(alone)} of {words.count(slots, 'count')}"
        for label, mean, most, slots, alone in frame.select(
            "label", "mean_people", "largest_count", "published_slots", "slots_with_one_person"
        ).iter_rows()
    ]
