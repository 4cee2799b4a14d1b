"""Timetables: the slots of a week in which people may have habits, from a file, a frame or a rule.

A CSV file has a line for each slot: `weekday,from,to`. A TOML file may say more:

    tz = "Asia/Shanghai"
    holidays = ["2016-04-04"]

    [[slot]]
    weekday = ["Mon", "Wed"]
    from = "08:00"
    to = "09:35"

`grid:30min` cuts every day of the week into equal slots, for people who are no students.
A timetable found in the records (`found`) is the business of trajlab.schedule.
"""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from trajlab.errors import ScheduleError
from trajlab.release.slots import DAY, slot_seconds

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
COLUMNS = ("weekday", "from", "to")
FORMS = "a .csv or .toml file, a frame with weekday, from and to, grid:30min, found or found:PATTERN"


@dataclass(frozen=True, slots=True, order=True)
class Slot:
    """A stretch of one weekday (1 is Monday), in minutes since local midnight."""

    weekday: int
    begins: int
    ends: int

    def __str__(self) -> str:
        return f"{self.name} to {clock(self.ends)}"

    @property
    def name(self) -> str:
        return f"{DAYS[self.weekday - 1]} {clock(self.begins)}"


@dataclass(frozen=True, slots=True)
class Timetable:
    """Weekly slots in the order of weekday and time, which never overlap; `tz` and `holidays` where a file told."""

    name: str
    slots: tuple[Slot, ...]
    tz: str | None = None
    holidays: tuple[dt.date, ...] = ()

    def __post_init__(self) -> None:
        if not self.slots:
            raise ScheduleError(f"{self.name}: a timetable without slots")
        object.__setattr__(self, "slots", tuple(sorted(self.slots)))
        clashes = [(a, b) for a, b in pairwise(self.slots) if a.weekday == b.weekday and b.begins < a.ends]
        if clashes:
            (first, second), *more = clashes
            others = f" (and {len(more)} more)" if more else ""
            raise ScheduleError(
                f"{self.name}: slots overlap, {first} and {second}{others}: a moment may belong to one slot only"
            )


def read(timetable: object) -> Timetable:
    """The timetable that a file, a frame or `grid:...` stands for."""
    if isinstance(timetable, Timetable):
        return timetable
    if isinstance(timetable, pl.DataFrame):
        return _of_rows("timetable", timetable.columns, timetable.iter_rows(named=True), first=1)
    if not isinstance(timetable, str | Path):
        raise ScheduleError(f"a timetable is {FORMS}, not {type(timetable).__name__}")
    text = str(timetable)
    if text.partition(":")[0] == "grid":
        return grid(text.partition(":")[2] or "30min")
    path = Path(text)
    reader = {".csv": _csv, ".toml": _toml}.get(path.suffix.lower())
    if reader is None:
        raise ScheduleError(f"no timetable {text!r}: it may be {FORMS}")
    if not path.is_file():
        raise ScheduleError(f"there is no timetable {text!r}")
    try:
        return reader(path)
    except UnicodeDecodeError:
        raise ScheduleError(f"{path.name}: not UTF-8 text") from None


def grid(slot: str) -> Timetable:
    """Every day of the week in equal slots of whole minutes."""
    seconds = slot_seconds(slot)
    if seconds % 60:
        raise ScheduleError(f"grid:{slot}: slots of a timetable have whole minutes")
    step = seconds // 60
    slots = [Slot(day, minute, minute + step) for day in range(1, 8) for minute in range(0, DAY // 60, step)]
    return Timetable(f"grid:{slot}", tuple(slots))


def dates(given: Iterable[object], name: str = "holidays") -> tuple[dt.date, ...]:
    """Dates to skip, in order, each once."""
    if isinstance(given, str | dt.date):
        raise ScheduleError(f"{name} is a list of dates, such as ['2016-04-04'], not {given!r}")
    found = set()
    for day in given:
        try:
            found.add(day if type(day) is dt.date else dt.date.fromisoformat(str(day)))
        except ValueError:
            raise ScheduleError(f"{name}: {day!r} is not a date like 2016-04-04") from None
    return tuple(sorted(found))


def weekday(value: object) -> int | None:
    """1 for Monday to 7 for Sunday, from a number or a name; None for anything else."""
    text = str(value).strip().lower()
    if re.fullmatch(r"[1-7](\.0)?", text):
        return int(text[0])
    full = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    known = {name: n for n, day in enumerate(full, start=1) for name in (day, day[:3])}
    return known.get(text)


def minutes(value: object) -> int | None:
    """Minutes since midnight, from a time or text like 08:00; 24:00 is the end of the day. None for anything else."""
    found = re.fullmatch(r"\s*(\d{1,2}):(\d{2})(:00(\.0*)?)?\s*", str(value))
    if not found:
        return None
    total = int(found[1]) * 60 + int(found[2])
    return total if int(found[2]) < 60 and total <= DAY // 60 else None


def clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"


def _csv(path: Path) -> Timetable:
    text = path.read_text(encoding="utf-8-sig")
    if not text.strip():
        raise ScheduleError(f"{path.name}: the file is empty")
    try:
        frame = pl.read_csv(text.encode(), infer_schema=False)
    except pl.exceptions.PolarsError:
        raise ScheduleError(f"{path.name}: not a table with commas between columns; a line has too many") from None
    frame = frame.rename({name: name.strip().lower() for name in frame.columns})
    zones = frame["tz"].drop_nulls().unique().to_list() if "tz" in frame.columns else []
    if len(zones) > 1:
        raise ScheduleError(f"{path.name}: slots in {len(zones)} zones; a timetable has one")
    found = _of_rows(path.name, frame.columns, frame.iter_rows(named=True), first=2)
    return Timetable(found.name, found.slots, zones[0] if zones else None)


def _toml(path: Path) -> Timetable:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ScheduleError(f"{path.name}: not TOML: {error}") from None
    if unknown := set(content) - {"tz", "holidays", "slot"}:
        raise ScheduleError(f"{path.name}: nobody knows {min(unknown)!r}; there are: holidays, slot, tz")
    rows = content.get("slot", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ScheduleError(f"{path.name}: slots are written [[slot]], with weekday, from and to")
    several = [
        row | {"weekday": day}
        for row in rows
        for day in (row["weekday"] if isinstance(row.get("weekday"), list) else [row.get("weekday")])
    ]
    names = set.intersection(*map(set, rows)) if rows else set(COLUMNS)
    found = _of_rows(path.name, sorted(names), several, first=1)
    if not isinstance(content.get("tz", ""), str):
        raise ScheduleError(f"{path.name}: tz is the name of a zone, such as 'Asia/Shanghai', not {content['tz']!r}")
    return Timetable(
        found.name, found.slots, content.get("tz"), dates(content.get("holidays", ()), f"{path.name}: holidays")
    )


def _of_rows(name: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]], *, first: int) -> Timetable:
    if missing := [column for column in COLUMNS if column not in columns]:
        raise ScheduleError(f"{name}: no {' and no '.join(missing)}; a timetable has weekday, from and to")
    return Timetable(name, tuple(_slot(name, n, row) for n, row in enumerate(rows, start=first)))


def _slot(name: str, n: int, row: Mapping[str, Any]) -> Slot:
    day = weekday(row["weekday"])
    if day is None:
        raise ScheduleError(f"{name}, row {n}: no weekday is called {row['weekday']!r}: write 1 to 7, or Mon to Sun")
    times = {}
    for end in ("from", "to"):
        found = minutes(row[end])
        if found is None:
            raise ScheduleError(f"{name}, row {n}: {row[end]!r} is no time of whole minutes such as 08:00")
        times[end] = found
    if times["to"] <= times["from"]:
        raise ScheduleError(
            f"{name}, row {n}: a slot from {clock(times['from'])} to {clock(times['to'])} ends before it "
            "begins: divide it at midnight, 24:00"
        )
    return Slot(day, times["from"], times["to"])
