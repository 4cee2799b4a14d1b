"""A day of a few people, true and recovered: only where whoever writes the page says that they may be shown."""

from __future__ import annotations

import polars as pl

from trajlab.report import words
from trajlab.report.contents import Contents, Published
from trajlab.report.drawing import paths
from trajlab.report.evidence import Answer, figure
from trajlab.report.markup import Html, join, tag
from trajlab.report.page import tabs
from trajlab.report.runs import best_run

TITLE = "A day, true and recovered"
POSITION = 55
NEEDS = "no days of people are drawn here: trajlab report --example-people draws them, for people who may be shown"
TERMS = {
    "Example people": "Chosen by rank, not by hand: those for whom the attack was right most often, least often, and "
    "evenly between. The day is the one on which they were in most cells, which is the hardest to recover.",
}

CHOSEN = "from report.example_people($run_id, $pairing, $examples) order by example"
DAY = "from report.recovered_day($run_id, $pairing, $person) order by slot"


def render(contents: Contents) -> Html | None:
    if not contents.examples:
        return None
    found = best_run(contents)
    if found is None or not found.release.own:
        return None
    run = {"run_id": found.run_id, "pairing": found.pairing}
    chosen = contents.load_answer(CHOSEN, examples=contents.examples, **run).frame
    panels = []
    for example, person, accuracy in chosen.iter_rows():
        answer = contents.load_answer(DAY, person=person, **run)
        name = f"Person {chr(ord('A') + example)}, {words.share(accuracy)} recovered"
        panels.append((name, _day(answer, found.release, found.name, accuracy)))
    if not panels:
        return None
    return join(tag("p", _WHY), tabs("days", panels, choose="Choose a person"))


_WHY = (
    "What recovery means for somebody: where a person really was, hour by hour, and where the attack says that the "
    "person was. The people below are simulated, or agreed to be shown; without that, nobody's day is in this page."
)


def _day(answer: Answer, release: Published, attack: str, accuracy: float) -> Html:
    frame = answer.frame
    hits = int((frame["true_label"] == frame["recovered_label"]).sum())
    when = frame["starts"][0]
    drawing = paths.draw(
        f"True and recovered path of one person on one day, {release.name}",
        frame["starts"].to_list(),
        frame.select("true_x", "true_y").to_numpy(),
        frame.select("recovered_x", "recovered_y").to_numpy(),
        (frame["true_label"] == frame["recovered_label"]).to_list(),
        _titles(frame),
    )
    return figure(
        f"{when:%A}, {when.day} {when:%B}",
        drawing,
        answer.select("starts", "true_label", "recovered_label", "metres_apart"),
        note=f"{attack} on {words.lower_first(release.name)}: on this day it is right in {hits} of "
        f"{words.count(len(frame), 'slot')}, over the whole period in {words.share(accuracy)}.",
        heads={"true_label": "True cell", "recovered_label": "Recovered cell"},
    )


def _titles(frame: pl.DataFrame) -> list[str]:
    """What to say of each slot when it is pointed at."""
    return [
        f"{starts:%H:%M}\ntrue: {words.short(true)}\nrecovered: {words.short(recovered)}"
        for starts, true, recovered in frame.select("starts", "true_label", "recovered_label").iter_rows()
    ]
