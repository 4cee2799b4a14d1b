"""The habits that recovery lives on: how regular and how singular the trajectories behind each release are."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from trajlab.report import words
from trajlab.report.contents import Contents, Published
from trajlab.report.drawing import charts
from trajlab.report.evidence import Answer, Show, figure
from trajlab.report.markup import Html, join, tag
from trajlab.report.page import tabs

TITLE = "Habits behind the counts"
POSITION = 40
NEEDS = "habits have not been measured: trajlab feasibility LAB --release RELEASE"
TERMS = {
    "Most frequent places": "The cells in which a person has most slots. Over the whole day only slots with records "
    "count; at night, from midnight to six, filled slots count too. Means over people.",
    "Singled out": "Nobody else in the release has the same set of most frequent places, or passes through all of "
    "the same places at the same times. Every person is compared with all others.",
    "Random and successive points": "Places with their times, drawn from a person's own trajectory by a seeded "
    "lottery: independently of each other, or one slot after the other.",
    "Expected place": "Staying expects a person where they are. Keeping pace makes the last move once more. "
    "The error is the distance from there to the next true place.",
    "Information gain": "How different two days are by the time spent in each cell, in bits: 0 for days in the same "
    "places for the same time, 1 for days without a common place.",
}
MOST = 8
"""Releases that get a panel."""

PLACES = """\
select when_counted, places, people, estimate, low, high
from report.place_time where release_id = $release_id
order by when_counted desc, places"""

SINGLED_OUT = """\
select knowledge, points, people, unique_people, estimate, low, high
from metrics.singled_out where release_id = $release_id qualify seed = min(seed) over ()
order by knowledge desc, points"""

NIGHTS = """\
select places, nights, people, estimate, low, high
from metrics.night_places where release_id = $release_id
order by places"""

ERRORS = """\
select time_of_day, model, metres, transitions, estimate, low, high
from metrics.prediction_error where release_id = $release_id
order by time_of_day desc, model, metres"""

GAIN = """\
select days_of, gain_from, gain_to, pairs, estimate, low, high, mean_gain
from metrics.day_gain where release_id = $release_id
order by days_of, bin"""

_SHARES: Show = dict.fromkeys(("estimate", "low", "high"), words.share)
_KNOWLEDGE = {
    "top": "most frequent places, without times",
    "random": "random points",
    "consecutive": "successive points",
}
_RULES = {"night, stay": "night, staying", "day, stay": "day, staying", "day, velocity": "day, keeping pace"}
_FIVE = charts.Axis(0.75, 5.25, [(k, str(k)) for k in range(1, 6)])


def render(contents: Contents) -> Html | None:
    panels = [(release.name, panel) for release in contents.releases if (panel := _panel(contents, release))]
    return join(tag("p", _WHY), tabs("feasibility", panels, most=MOST)) if panels else None


_WHY = (
    "About the traces behind the table. "
    "Counts name nobody. People can be recovered from them as far as each of them repeats the same few places, "
    "and as far as no two of them repeat the same ones. The figures below measure both on the true "
    "trajectories, before any attack."
)


def _panel(contents: Contents, release: Published) -> Html | None:
    places = contents.load_answer(PLACES, release_id=release.id)
    if not len(places.frame):
        return None
    drawn = [
        _places(places, release),
        _singled_out(contents.load_answer(SINGLED_OUT, release_id=release.id), release),
        _nights(contents.load_answer(NIGHTS, release_id=release.id), release),
        _errors(contents.load_answer(ERRORS, release_id=release.id), release),
        _gain(contents.load_answer(GAIN, release_id=release.id), release),
    ]
    return join(drawn)


def _places(answer: Answer, release: Published) -> Html:
    first, five = (_value(answer.frame, when_counted="whole day", places=k) for k in (1, 5))
    series = {when: _points(rows, "places") for when, rows in _split(answer.frame, "when_counted")}
    return figure(
        "Time in the most frequent places",
        charts.lines(f"Share of time in the most frequent places, {release.name}", series, _FIVE, say=words.share),
        answer,
        note=f"On average people spend {words.share(first)} of their recorded time in one place and "
        f"{words.share(five)} in five. From left to right: the one to five most frequent places of each person.",
        show=_SHARES,
    )


def _singled_out(answer: Answer, release: Published) -> Html:
    four = _value(answer.frame, knowledge="random", points=4)
    three = _value(answer.frame, knowledge="top", points=3)
    series = {_KNOWLEDGE[name]: _points(rows, "points") for name, rows in _split(answer.frame, "knowledge")}
    return figure(
        "People singled out by a few known points",
        charts.lines(f"Share of people singled out, {release.name}", series, _FIVE, say=words.share),
        answer,
        note=f"Four random moments of somebody's days fit nobody else for {words.share(four)} of the people; their "
        f"three most frequent places, without times, for {words.share(three)}. From left to right: one to five places "
        "or points known.",
        show=_SHARES,
    )


def _nights(answer: Answer, release: Published) -> Html | None:
    if not len(answer.frame):
        return None
    bars = [(words.count(places, "place"), share) for places, share in answer.frame["places", "estimate"].iter_rows()]
    return figure(
        "Places in one night",
        charts.columns(f"Share of nights by number of places, {release.name}", bars, say=words.share),
        answer,
        note="Share of nights, from midnight to six, by the number of cells in which a person is. Who does not move "
        "needs no guessing.",
        show=_SHARES,
    )


def _errors(answer: Answer, release: Published) -> Html | None:
    if not len(answer.frame):
        return None
    axis = charts.Axis(0, 5000, [(m, words.metres(m)) for m in range(0, 5000, 1000)], (1000,), words.metres)
    series = {_RULES[name]: _points(rows, "metres") for name, rows in _split(answer.frame, "time_of_day", "model")}
    pace, stay = (_value(answer.frame, time_of_day="day", model=model, metres=1000) for model in ("velocity", "stay"))
    return figure(
        "Guessing the next place",
        charts.lines(f"Share of guesses by error, {release.name}", series, axis, say=words.share),
        answer,
        note=f"By day, {words.share(pace)} of the guesses that people keep their pace are at most one kilometre off, "
        f"and {words.share(stay)} of the guesses that they stay. From left to right: the error allowed.",
        show=_SHARES,
    )


def _gain(answer: Answer, release: Published) -> Html | None:
    if not len(answer.frame):
        return None
    bins = answer.frame.with_columns(middle=(pl.col("gain_from") + pl.col("gain_to")) / 2)
    axis = charts.Axis(0, 1, [(n / 5, words.number(n / 5)) for n in range(6)], say=lambda g: f"gain about {g:.3f}")
    series = {f"days of {name}": _points(rows, "middle") for name, rows in _split(bins, "days_of")}
    means = {name: rows["mean_gain"][0] for name, rows in _split(answer.frame, "days_of")}
    two = f", of two people {words.number(means['two people'], 2)}" if "two people" in means else ""
    return figure(
        "One day and the next",
        charts.lines(f"Share of pairs of days by information gain, {release.name}", series, axis, say=words.share),
        answer,
        note=f"Information gain between a day and the next: the mean for the days of one person is "
        f"{words.number(means['one person'], 2)}{two}. Where the two lines lie apart, days can be linked.",
        show=_SHARES,
    )


def _split(frame: pl.DataFrame, *keys: str) -> list[tuple[str, pl.DataFrame]]:
    """The rows of each value of the keys, in the order in which they appear."""
    parts = frame.partition_by(*keys, maintain_order=True, as_dict=True)
    return [(", ".join(key), rows) for key, rows in parts.items()]


def _points(rows: pl.DataFrame, x: str) -> Sequence[tuple[float, float | None]]:
    return [(float(place), share) for place, share in rows.select(x, "estimate").iter_rows()]


def _value(frame: pl.DataFrame, **key: str | int) -> float | None:
    found = frame.filter(**key)["estimate"]
    return float(found[0]) if len(found) else None
