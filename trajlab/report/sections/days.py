"""A day of a few people, true and recovered: only where whoever writes the page says that they may be shown."""

from __future__ import annotations

import polars as pl

from trajlab.report import words
from trajlab.report.contents import Contents, Published
from trajlab.report.drawing import paths
from trajlab.report.evidence import Answer, figure
from trajlab.report.markup import Html, join, tag
from trajlab.report.page import tabs
from trajlab.report.recovered import best_run

TITLE = "A day, true and recovered"
POSITION = 55
TERMS = {
    "Example people": "Chosen by rank, not by hand: those for whom the attack was right most often, least often, and "
    "evenly between. The day is the one on which they were in most cells, which is the hardest to recover.",
}

CHOSEN = """
with ranked as (
    select
        person,
        accuracy,
        row_number() over (order by accuracy desc, person) - 1 as place,
        count(*) over () as people
    from metrics.person_recovery
    where run_id = $run_id and pairing = $pairing and track is not null
)

select distinct on (example) example, person, accuracy
from ranked
join (select unnest(range($examples)) as example) as wanted
    on place = floor(example * (people - 1) / greatest($examples - 1, 1))
order by example, person
"""

DAY = """
with position as (
    select slot.slot, slot.day, slot.starts, position.cell
    from slots.position as position
    join slots.slot as slot on slot.release_id = position.release_id and slot.slot = position.slot
    where position.release_id = $release_id and position.person = $person
),

busiest_day as (
    select day from position group by day order by count(distinct cell) desc, day limit 1
),

recovered as (
    select track.slot, track.cell
    from attacks.track as track
    join metrics.pair as pair
        on pair.run_id = track.run_id
        and pair.track = track.track
        and pair.pairing = $pairing
        and pair.stage = 3
    where track.run_id = $run_id and pair.person = $person
)

select
    position.starts,
    there.label as true_cell,
    taken.label as recovered_cell,
    round(sqrt((there.x - taken.x) ** 2 + (there.y - taken.y) ** 2)) as metres_apart,
    there.x as true_x,
    there.y as true_y,
    taken.x as recovered_x,
    taken.y as recovered_y
from position
join busiest_day on busiest_day.day = position.day
join recovered on recovered.slot = position.slot
join counts.release as release on release.release_id = $release_id
join grid.cell as there on there.index_id = release.index_id and there.cell = position.cell
join grid.cell as taken on taken.index_id = release.index_id and taken.cell = recovered.cell
order by position.slot
"""


def render(contents: Contents) -> Html | None:
    if not contents.examples:
        return None
    found = best_run(contents)
    if found is None or not found.release.own:
        return None
    asked = {"run_id": found.run_id, "pairing": found.pairing}
    chosen = contents.ask(CHOSEN, examples=contents.examples, **asked).frame
    panels = []
    for example, person, accuracy in chosen.iter_rows():
        answer = contents.ask(DAY, release_id=found.release.id, person=person, **asked)
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
    hits = int((frame["true_cell"] == frame["recovered_cell"]).sum())
    when = frame["starts"][0]
    drawing = paths.draw(
        f"True and recovered path of one person on one day, {release.name}",
        frame["starts"].to_list(),
        frame.select("true_x", "true_y").to_numpy(),
        frame.select("recovered_x", "recovered_y").to_numpy(),
        (frame["true_cell"] == frame["recovered_cell"]).to_list(),
        _titles(frame),
    )
    return figure(
        f"{when:%A}, {when.day} {when:%B}",
        drawing,
        Answer(answer.sql, answer.params, frame.drop("true_x", "true_y", "recovered_x", "recovered_y")),
        note=f"{attack} on {words.uncapitalised(release.name)}: on this day it is right in {hits} of "
        f"{words.counted(len(frame), 'slot')}, over the whole period in {words.share(accuracy)}.",
    )


def _titles(frame: pl.DataFrame) -> list[str]:
    """What to say of each slot when it is pointed at."""
    return [
        f"{starts:%H:%M}\ntrue: {words.short(true)}\nrecovered: {words.short(recovered)}"
        for starts, true, recovered in frame.select("starts", "true_cell", "recovered_cell").iter_rows()
    ]
