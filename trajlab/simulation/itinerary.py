"""People's days as lines through space and time, and where a line is at any second.

A day starts at home at 04:00 on the person's own clock, has up to four activities
(work, lunch, work again or outings instead, an evening out) and ends at home. A
trip is two straight legs through a crossing towards the centre, at walking or
driving speed, so people are seen on the way. Knots, the points where a line bends,
lie on whole seconds: that keeps interpolation exact whatever block a person is in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trajlab.simulation.chance import Bools, Floats, Ints
from trajlab.simulation.city import HOUR, City, Residents, settle
from trajlab.simulation.outings import outing_places
from trajlab.simulation.scenario import DAY, Scenario

_DAWN = 4 * HOUR
_WORTH_GOING_HOME = 1.5 * HOUR
_LONGEST_TRIP = 1.25 * HOUR


@dataclass(frozen=True, slots=True)
class Itinerary:
    """One block of people; `knots` are seconds on the own clock plus the person's row times `span`."""

    people: Residents
    knots: Floats
    x: Floats
    y: Floats
    span: int

    def where(self, row: Ints, wall: Ints) -> tuple[Floats, Floats]:
        """(x, y) of the block's person `row` when the wall clock shows `wall`; the two broadcast."""
        at = (row * self.span + (wall - self.people.lag[row] + 2 * DAY)).astype(np.float64)
        return np.interp(at, self.knots, self.x), np.interp(at, self.knots, self.y)


@dataclass(frozen=True, slots=True)
class _Activity:
    """The same part of everybody's every day; arrays are people down, days across."""

    happens: Bools
    begins: Floats
    ends: Floats
    x: Floats
    y: Floats


def itinerary(scenario: Scenario, city: City, person: Ints) -> Itinerary:
    """The lines of these people, from the day before the first to the end of the last."""
    people = settle(city, person)
    days = np.arange(-1, scenario.days)
    activities = _plan(city, people, days, scenario.first_day.weekday())
    time, x, y = _walk(city, people, activities)
    span = (scenario.days + 5) * DAY  # room for the day before and for clocks that changed
    start = np.arange(len(person))[:, None] * span
    midnight = (start + (days + 2) * DAY).astype(np.float64)[:, :, None]
    time = np.clip(np.rint(time), _DAWN, _DAWN + DAY) + midnight

    def line(knots: Floats, last: Floats) -> Floats:
        """All lines laid end to end, each held to its last value until the next one starts."""
        return np.column_stack([knots.reshape(len(person), -1), last]).ravel()

    closing = (start[:, 0] + span - 1).astype(np.float64)
    return Itinerary(people, line(time, closing), line(x, people.home[0]), line(y, people.home[1]), span)


def _plan(city: City, people: Residents, days: Ints, first_weekday: int) -> list[_Activity]:
    weekday = (days + first_weekday) % 7
    day = (days + 1)[None, :]  # a counter for draws: from 0 on
    person = people.person[:, None]
    shape = (len(people.person), len(days))

    def uniform(purpose: str, low: float = 0.0, high: float = 1.0) -> Floats:
        return low + (high - low) * city.chance.uniform(purpose, person, day)

    rests = (weekday - people.rest_day[:, None]) % 7 < 2
    absent = uniform("absent") < 0.12 * city.chance.uniform("health", person)
    at_work = people.works[:, None] & ~rests & ~absent
    late_night = (weekday == 4) | (weekday == 5)

    lateness, overtime = city.chance.normal_pair("lateness", person, day)
    arrives = people.starts[:, None] + 0.12 * HOUR * lateness
    leaves = arrives + people.stays[:, None] + 0.25 * HOUR * overtime
    noon = np.maximum(12 * HOUR + HOUR * city.chance.uniform("noon", person), arrives + 2.5 * HOUR)
    morning, afternoon = uniform("morning", 9.5, 11.5) * HOUR, uniform("afternoon", 14, 17) * HOUR
    evening = np.maximum(uniform("evening", 18.2, 20.7) * HOUR, np.where(at_work, leaves + 0.3 * HOUR, 0))
    night_out = np.where(late_night, uniform("night out", 1.0, 5.0), uniform("night out", 0.8, 2.6)) * HOUR

    keen = 0.6 + 0.8 * city.chance.uniform("keen", person)  # some people go out more than others
    goes = [
        ~at_work & (uniform("goes out: morning") < 0.45 * keen),
        ~at_work & (uniform("goes out: afternoon") < 0.55 * keen),
        (uniform("goes out: evening") < np.where(late_night, 0.45, 0.28) * keen) & (evening < 22 * HOUR),
    ]
    x, y = outing_places(city, people, np.stack(goes, axis=2).reshape(shape[0], -1))
    x, y = x.reshape(*shape, 3), y.reshape(*shape, 3)

    def work_or(outing: int, begins: Floats, ends: Floats, own: Floats, lasts: Floats) -> _Activity:
        return _Activity(
            happens=at_work | goes[outing],
            begins=np.where(at_work, begins, own),
            ends=np.where(at_work, ends, own + lasts),
            x=np.where(at_work, people.work[0][:, None], x[:, :, outing]),
            y=np.where(at_work, people.work[1][:, None], y[:, :, outing]),
        )

    eats_out = at_work & (uniform("lunch") < 0.3)
    lunch_x, lunch_y = (np.broadcast_to(c[:, None], shape) for c in people.canteen)
    return [
        work_or(0, arrives, noon, morning, uniform("morning lasts", 0.6, 2.2) * HOUR),
        _Activity(eats_out, noon + 0.1 * HOUR, noon + 0.75 * HOUR, lunch_x, lunch_y),
        work_or(1, noon + 0.9 * HOUR, leaves, afternoon, uniform("afternoon lasts", 0.8, 3.0) * HOUR),
        _Activity(goes[2], evening, np.minimum(evening + night_out, 26 * HOUR), x[:, :, 2], y[:, :, 2]),
    ]


def _walk(city: City, people: Residents, activities: list[_Activity]) -> tuple[Floats, Floats, Floats]:
    """Turn plans into trips; each trip is three knots (leave, crossing, arrive), all for every person-day.

    A trip that does not happen still leaves three knots at the same place and time,
    which cost little and keep every array rectangular.
    """
    shape = activities[0].happens.shape
    home_x, home_y = (np.broadcast_to(c[:, None], shape) for c in people.home)
    x, y, free = home_x, home_y, np.full(shape, _DAWN)
    knots: list[tuple[Floats, Floats, Floats]] = []

    def go(happens: Bools, to_x: Floats, to_y: Floats, due: Floats | None) -> None:
        """Be there when due, or leave at once; late for whoever is not free in time."""
        nonlocal x, y, free
        to_x, to_y = np.where(happens, to_x, x), np.where(happens, to_y, y)
        via_x, via_y = _crossing(city, x, y, to_x, to_y)
        first, second = np.hypot(via_x - x, via_y - y), np.hypot(to_x - via_x, to_y - via_y)
        takes = _travel_time(first + second)
        leaves = free if due is None else np.where(happens, np.maximum(free, due - takes), free)
        halfway = leaves + takes * first / np.maximum(first + second, 1.0)
        knots.extend([(leaves, x, y), (halfway, via_x, via_y), (leaves + takes, to_x, to_y)])
        x, y, free = to_x, to_y, leaves + takes

    for number, activity in enumerate(activities):
        if number:
            breaks = activity.happens & (activity.begins - free > _WORTH_GOING_HOME)
            go(breaks, home_x, home_y, None)
        go(activity.happens, activity.x, activity.y, activity.begins)
        free = np.where(activity.happens, np.maximum(activity.ends, free + 0.2 * HOUR), free)
    go(np.ones(shape, dtype=np.bool_), home_x, home_y, None)
    time, east, north = (np.stack(column, axis=2) for column in zip(*knots, strict=True))
    return time, east, north


def _crossing(city: City, x: Floats, y: Floats, to_x: Floats, to_y: Floats) -> tuple[Floats, Floats]:
    """Long trips bend towards the centre and share crossings; short ones go straight."""
    apart = 8 * city.block
    long = np.hypot(to_x - x, to_y - y) > 2 * apart
    half_x, half_y = (x + to_x) / 2, (y + to_y) / 2
    via_x = np.where(long, np.rint(0.7 * half_x / apart) * apart, half_x)
    via_y = np.where(long, np.rint(0.7 * half_y / apart) * apart, half_y)
    return via_x, via_y


def _travel_time(metres: Floats) -> Floats:
    """Seconds: on foot at 4.5 km/h up to what seven minutes to the car or stop and 28 km/h would take."""
    on_foot, on_wheels = metres / (4.5 / 3.6), 420.0 + metres / (28 / 3.6)
    return np.minimum(np.minimum(on_foot, on_wheels), _LONGEST_TRIP)
