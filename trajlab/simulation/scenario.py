"""What is simulated, checked once: how many, how long, where, by which clock.

People live by the clock on the wall and records are stamped in UTC. A scenario
knows both: `instants` are seconds of real time since the first local midnight, and
`wall` says what the clocks show then, with the hour they skip or repeat.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypedDict, get_args
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl

from trajlab.errors import SimulationError
from trajlab.settings import whole_number
from trajlab.simulation.chance import Chance, Floats, Ints

Mode = Literal["gps", "cdr", "campus"]

DAY = 86_400
_QUARTER = 900  # clocks change on a quarter of an hour, everywhere
_METRES_PER_DEGREE = 111_320.0
_UNITS = {"s": 1, "min": 60, "h": 3600}


class Options(TypedDict, total=False):
    """The keyword arguments that every `simulate...` function takes."""

    seed: int
    mode: Mode
    interval: str | dt.timedelta
    start: str | dt.date
    tz: str
    centre: tuple[float, float]
    radius_km: float
    stations: int


@dataclass(frozen=True)
class Scenario:
    """A city that can be simulated; one that cannot raises `SimulationError` here.

    `centre` is (lat, lng). Local metres become degrees with the scale at the centre,
    which is off by well under one per cent at the edge of a city.
    """

    people: int = 1000
    days: int = 7
    seed: int = 0
    mode: Mode = "gps"
    interval: str | dt.timedelta = "30min"
    start: str | dt.date = "2024-03-04"
    tz: str = "Europe/Lisbon"
    centre: tuple[float, float] = (38.7223, -9.1393)
    radius_km: float = 15.0
    stations: int = 300

    def __post_init__(self) -> None:
        for name, least in (("people", 1), ("days", 1), ("stations", 1), ("seed", 0)):
            number = whole_number(name, getattr(self, name), least, None, error=SimulationError)
            object.__setattr__(self, name, number)
        if self.mode not in get_args(Mode):
            raise SimulationError(f"no mode named {self.mode!r}; there are: {', '.join(get_args(Mode))}")
        lat, lng = self.centre if len(self.centre) == 2 else (np.nan, np.nan)
        if not (abs(lat) <= 80 and abs(lng) <= 178):
            raise SimulationError(f"centre must be (lat, lng) within 80 and 178 degrees, not {self.centre!r}")
        if not 0.5 <= self.radius_km <= 100:
            raise SimulationError(f"radius_km must be from 0.5 to 100, not {self.radius_km!r}")
        _ = self.step, self.first_day, self.length  # computed now, so that a bad one is refused now

    @cached_property
    def chance(self) -> Chance:
        return Chance(int(self.seed))

    @cached_property
    def step(self) -> int:
        """Seconds from one GPS fix to the next."""
        if isinstance(self.interval, dt.timedelta):
            seconds = self.interval.total_seconds()
        elif match := re.fullmatch(r"\s*(\d+)\s*(s|min|h)\s*", str(self.interval)):
            seconds = int(match[1]) * _UNITS[match[2]]
        else:
            raise SimulationError(f"interval {self.interval!r} is not a time such as '30min', '15s' or '1h'")
        if seconds < 1 or seconds != int(seconds) or DAY % int(seconds):
            raise SimulationError(f"interval {str(self.interval)!r} does not divide a day into equal whole seconds")
        return int(seconds)

    @cached_property
    def first_day(self) -> dt.date:
        if isinstance(self.start, dt.date):
            return dt.date(self.start.year, self.start.month, self.start.day)
        try:
            return dt.date.fromisoformat(str(self.start))
        except ValueError as error:
            raise SimulationError(
                f"start {self.start!r} is not a date; write it as year-month-day, like '2024-03-04'"
            ) from error

    @cached_property
    def begin(self) -> int:
        """The first local midnight, in seconds since 1970 UTC."""
        return self._midnight(0)

    @cached_property
    def length(self) -> int:
        """Seconds of real time from the first to the last midnight: 23 hours count in a spring night."""
        return self._midnight(self.days) - self.begin

    def _midnight(self, day: int) -> int:
        try:
            zone = ZoneInfo(self.tz)
        except (KeyError, ValueError, OSError, TypeError) as error:
            raise SimulationError(f"no time zone named {self.tz!r}; use one like 'Europe/Lisbon' or 'UTC'") from error
        try:
            date = self.first_day + dt.timedelta(days=day)
        except OverflowError as error:
            raise SimulationError(f"{day} days from {self.first_day} run past the calendar") from error
        return int(dt.datetime(date.year, date.month, date.day, tzinfo=zone).timestamp())

    @cached_property
    def _offsets(self) -> Ints:
        """Wall time minus real time, in each quarter of an hour from the begin."""
        instants = np.arange(-2 * DAY, self.length + 2 * DAY, _QUARTER, dtype=np.int64)
        shown = (
            self.stamps(instants).dt.convert_time_zone(self.tz).dt.replace_time_zone(None).to_physical()
        ).to_numpy() // 1_000_000
        midnight = dt.datetime(*self.first_day.timetuple()[:3], tzinfo=dt.UTC)
        offsets: Ints = shown - int(midnight.timestamp()) - instants
        return offsets

    def wall(self, instants: Ints) -> Ints:
        """Seconds on the wall clock since the first midnight, at instants of real time."""
        shown: Ints = instants + self._offsets[(instants + 2 * DAY) // _QUARTER]
        return shown

    def instant(self, wall: Ints) -> Ints:
        """When the clock shows this: the first time if twice, an hour later if never."""
        guess = wall - self._offsets[(wall + 2 * DAY) // _QUARTER]
        found: Ints = wall - self._offsets[(guess + 2 * DAY) // _QUARTER]
        return found

    def stamps(self, instants: Ints) -> pl.Series:
        micros = (instants + self.begin) * 1_000_000
        return pl.Series("ts", micros).cast(pl.Datetime("us", "UTC"))

    def degrees(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """(lat, lng), to six decimals, of metres east and north of the centre."""
        lat, lng = self.centre
        east = _METRES_PER_DEGREE * np.cos(np.radians(lat))
        return np.round(lat + y / _METRES_PER_DEGREE, 6), np.round(lng + x / east, 6)


def uids(persons: Ints) -> pl.Series:
    return "p" + pl.Series("uid", persons).cast(pl.String).str.zfill(7)
