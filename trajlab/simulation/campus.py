"""A campus seen by its Wi-Fi: students with weekly classes, and the truth about them.

Modelled on Ma et al. (2017): 111 buildings on 4 km², six class slots a day from
Monday to Friday, none of them taught on Thursday afternoon. How many students have
a class in a slot follows the paper's table I, about six classes a week each. Most
classes are shared with the cohort (department and year), some are the student's own.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

import numpy as np
import polars as pl

from trajlab.simulation.chance import Bools, Floats, Ints
from trajlab.simulation.scenario import DAY, Scenario, uids

_SLOTS = [  # from, to: the same on every weekday
    ("08:00", "09:35"),
    ("09:50", "12:15"),
    ("13:30", "15:05"),
    ("15:20", "16:55"),
    ("17:05", "18:40"),
    ("19:20", "21:45"),
]
_MEALS = {"breakfast": (7.2, 7.5), "lunch": (12.3, 13.0), "dinner": (17.2, 18.7)}  # hours they begin between
_CLASS_SHARE = (  # of students with a class in the slot (down) on the day (across, from Monday)
    np.array(
        [
            [147, 161, 247, 136, 54],
            [183, 306, 384, 261, 243],
            [136, 201, 194, 0, 133],
            [209, 278, 183, 0, 126],
            [13, 46, 89, 0, 6],
            [96, 243, 123, 176, 35],
        ]
    )
    / 721
)
# kind: how many, and the box they stand in (metres west, east, south, north of the centre)
_BUILDINGS = {
    "classroom": (20, (-500, 600, -300, 350)),
    "dormitory": (30, (-1000, 1000, 450, 1000)),
    "department": (40, (-1000, 1000, -1000, -350)),
    "library": (3, (-300, 300, -200, 300)),
    "canteen": (10, (-700, 800, 150, 700)),
    "sports": (4, (-1000, -550, -300, 400)),
    "office": (4, (600, 1000, -300, 400)),
}
_PROBE = 750  # seconds: one probe in each, 450 of them wide, so probes are 5 to 20 minutes apart
_YEARS = 4


@dataclass(frozen=True, slots=True)
class Campus:
    """Wi-Fi records and the ground truth they come from.

    `timetable` has all thirty weekly slots, the untaught ones of Thursday afternoon
    included, as an outsider would list them. `schedule` is what students signed up
    for; they attend each class with their own probability, from 0.6 to 1.
    """

    records: pl.DataFrame  # uid, ts, place, lat, lng
    places: pl.DataFrame  # place, lat, lng, kind, parent
    schedule: pl.DataFrame  # uid, weekday (1 is Monday), from, to, place
    timetable: pl.DataFrame  # weekday, from, to


def campus_rows_per_person(scenario: Scenario) -> int:
    return scenario.length // _PROBE


def build_campus(scenario: Scenario, records: pl.DataFrame) -> Campus:
    person = np.arange(scenario.people)
    taken = _classes(scenario, person)
    row, weekday, slot = np.nonzero(taken >= 0)
    places, timetable = campus_places(scenario), _timetable()
    schedule = pl.concat(
        [
            pl.DataFrame({"uid": uids(person).gather(row)}),
            timetable[weekday * len(_SLOTS) + slot],
            pl.DataFrame({"place": places["place"].gather(taken[row, weekday, slot])}),
        ],
        how="horizontal",
    )
    return Campus(records=records, places=places, schedule=schedule, timetable=timetable)


def campus_places(scenario: Scenario) -> pl.DataFrame:
    """place, lat, lng, kind, parent: parents are the sixteen 500 m squares of the campus."""
    x, y = _coordinates(scenario)
    lat, lng = scenario.degrees(x, y)
    names = [f"{kind}-{k:02d}" for kind, (many, _) in _BUILDINGS.items() for k in range(1, many + 1)]
    column, row = (np.clip((c + 1000) // 500, 0, 3).astype(int) for c in (x, y))
    return pl.DataFrame({"place": names, "lat": lat, "lng": lng}).with_columns(
        kind=pl.col("place").str.split("-").list.first(),
        parent="zone-" + pl.Series(column).cast(pl.String) + "-" + pl.Series(row).cast(pl.String),
    )


def campus_records(scenario: Scenario, person: Ints) -> pl.DataFrame:
    """uid, ts, place, lat, lng: where the network saw each device, by person and time."""
    probe = np.arange(-(-scenario.length // _PROBE))[None, :]
    jitter = np.floor(451 * scenario.chance.uniform("probe", person[:, None], probe)).astype(np.int64)
    instants = np.minimum(probe * _PROBE + jitter, scenario.length + DAY)
    wall = scenario.wall(instants)
    seen = ~_silent(scenario, person, wall) & (instants < scenario.length)
    place = _whereabouts(scenario, person, wall)[seen].astype(np.uint32)
    places = campus_places(scenario)
    return pl.DataFrame(
        {
            "uid": uids(person).gather(np.nonzero(seen)[0]),
            "ts": scenario.stamps(instants[seen]),
            "place": places["place"].gather(place),
            "lat": places["lat"].gather(place),
            "lng": places["lng"].gather(place),
        }
    )


def _whereabouts(scenario: Scenario, person: Ints, wall: Ints) -> Ints:
    """The building number of each student (down) at each of the student's own instants (across)."""
    chance, who = scenario.chance, person[:, None]
    day, second = wall // DAY, wall % DAY
    hour = second / 3600

    def own(kind: str) -> Ints:
        return _pick(kind, chance.uniform(f"own {kind}", who))

    studious = chance.uniform("studious", who)
    phase = np.floor(7200 * chance.uniform("phase", who)).astype(np.int64)
    mood = chance.uniform("mood", who, (wall + phase) // 7200)  # drawn anew every two hours, each student's own
    place = np.where(mood < 0.12 + 0.2 * studious, own("library"), _dormitory(scenario, person)[:, None])
    place = np.where((mood > 0.72) & (mood < 0.9), own("department"), place)
    place = np.where(mood > 0.9, own("classroom"), place)
    place = np.where((mood > 0.95) & (hour > 16) & (hour < 19), own("sports"), place)

    late = chance.uniform("late", who)
    asleep = (hour < 6.7 + late) | (hour > 22 + 1.5 * late)
    place = np.where(asleep, _dormitory(scenario, person)[:, None], place)
    for meal, (first, last) in _MEALS.items():
        sits = first + (last - first) * chance.uniform(meal, who, day)
        eats = (hour >= sits) & (hour < sits + 0.5) & ~asleep
        place = np.where(eats, own("canteen"), place)

    taken = _classes(scenario, person)
    weekday = (day + scenario.first_day.weekday()) % 7
    attendance = 0.6 + 0.4 * chance.uniform("attendance", who)
    for slot, (begins, ends) in enumerate(_SLOTS):
        in_slot = (second >= _seconds(begins) - 180) & (second < _seconds(ends) + 60) & (weekday < 5)
        room = taken[np.arange(len(person))[:, None], np.minimum(weekday, 4), slot]
        attends = chance.uniform("attends", who, day * len(_SLOTS) + slot) < attendance
        place = np.where(in_slot & (room >= 0) & attends, room, place)
    return place


def _silent(scenario: Scenario, person: Ints, wall: Ints) -> Bools:
    """Off for an hour now and then, every night for some, and all weekend for who goes home."""
    chance, who = scenario.chance, person[:, None]
    day, hour = wall // DAY, (wall % DAY) / 3600
    weekday = (day + scenario.first_day.weekday()) % 7
    phase = np.floor(3600 * chance.uniform("phase", who)).astype(np.int64)
    off = chance.uniform("off", who, (wall + phase) // 3600) < 0.02 + 0.3 * chance.uniform("often off", who)
    off_at_night = (chance.uniform("off at night", who) < 0.5) & ((hour < 6.5) | (hour > 23.5))
    leaves = chance.uniform("leaves", who, (day + scenario.first_day.weekday()) // 7) < 0.2
    return off | off_at_night | (leaves & (weekday >= 5))


def _classes(scenario: Scenario, person: Ints) -> Ints:
    """The classroom of each student in each slot of the week, -1 for none: (people, 5, 6)."""
    chance, who = scenario.chance, person[:, None, None]
    slot = np.arange(5 * len(_SLOTS)).reshape(1, 5, len(_SLOTS))
    cohort = _cohort(scenario, person)[:, None, None]
    alone = chance.uniform("elective", who, slot) < 0.25
    lot = np.where(alone, chance.uniform("own class", who, slot), chance.uniform("class", cohort, slot))
    room = np.where(alone, chance.uniform("own room", who, slot), chance.uniform("room", cohort, slot))
    return np.where(lot < _CLASS_SHARE.T[None], _pick("classroom", room), -1)


def _cohort(scenario: Scenario, person: Ints) -> Ints:
    """Department and year; a few departments are large and many small."""
    many = _BUILDINGS["department"][0]
    reached = np.cumsum(1.0 / np.arange(1, many + 1))
    drawn = scenario.chance.uniform("department", person) * reached[-1]
    year = np.floor(_YEARS * scenario.chance.uniform("year", person)).astype(np.int64)
    cohort: Ints = np.searchsorted(reached, drawn) * _YEARS + year
    return cohort


def _dormitory(scenario: Scenario, person: Ints) -> Ints:
    """Most of a cohort lives together."""
    chance, cohort = scenario.chance, _cohort(scenario, person)
    elsewhere = chance.uniform("lives elsewhere", person) < 0.3
    drawn = np.where(elsewhere, chance.uniform("dormitory", person), chance.uniform("hall", cohort))
    return _pick("dormitory", drawn)


def _pick(kind: str, drawn: Floats) -> Ints:
    """The building number that a draw from [0, 1) selects among one kind."""
    kinds = list(_BUILDINGS)
    before = sum(_BUILDINGS[other][0] for other in kinds[: kinds.index(kind)])
    number: Ints = before + np.floor(_BUILDINGS[kind][0] * drawn).astype(np.int64)
    return number


def _coordinates(scenario: Scenario) -> tuple[Floats, Floats]:
    rng = scenario.chance.generator("campus")
    boxes = [rng.uniform((box[0], box[2]), (box[1], box[3]), (many, 2)) for many, box in _BUILDINGS.values()]
    spots = np.concatenate(boxes)
    return spots[:, 0], spots[:, 1]


def _timetable() -> pl.DataFrame:
    return pl.DataFrame(
        [
            (weekday, dt.time.fromisoformat(begins), dt.time.fromisoformat(ends))
            for weekday in range(1, 6)
            for begins, ends in _SLOTS
        ],
        schema={"weekday": pl.Int8, "from": pl.Time, "to": pl.Time},
        orient="row",
    )


def _seconds(clock: str) -> int:
    hours, minutes = clock.split(":")
    return int(hours) * 3600 + int(minutes) * 60
