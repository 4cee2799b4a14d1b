"""Which slot an instant falls in, across midnight and clock changes, and how gaps are filled.

A slot is a stretch of the *local* day: with 30-minute slots, slot 16 of a day is 08:00
to 08:30 by the clock on the wall, in summer and in winter. On the day the clocks go
forward the skipped slots have no records; on the day they go back the repeated ones
have twice as many.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import polars as pl

from trajlab.errors import SlotError
from trajlab.query import Query, step
from trajlab.spatial._projection import LocalMetres

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.spatial import SpatialIndex
    from trajlab.store import Store

DAY = 86_400
FILLS = ("static", "linear", "none")
_UNITS = {"s": 1, "sec": 1, "min": 60, "m": 60, "h": 3600, "hour": 3600, "d": DAY, "day": DAY}
_GAP_BLOCK = 4_000_000
_HAIR = 1e-3


@dataclass(frozen=True, slots=True)
class Calendar:
    """The period that slots are cut from: `days` local days from the date `start`."""

    start: dt.date
    days: int
    seconds: int
    tz: str

    def __post_init__(self) -> None:
        if self.days < 1:
            raise SlotError(f"a release needs at least one day, not {self.days}")
        if self.seconds < 1 or DAY % self.seconds:
            raise SlotError(f"a slot of {self.seconds} s does not divide a day")
        if self.slots >= 2**31:
            raise SlotError(
                f"{self.days} days of {self.seconds} s are {self.slots:,} slots: use longer ones or fewer days"
            )
        zone(self.tz)

    @property
    def slots_per_day(self) -> int:
        return DAY // self.seconds

    @property
    def slots(self) -> int:
        return self.days * self.slots_per_day


def slot_seconds(slot: str | int | dt.timedelta) -> int:
    """The length of a slot given as "30min", "1h", seconds or a timedelta; it must divide a day."""
    if isinstance(slot, str):
        found = re.fullmatch(r"\s*(\d{1,9})\s*([a-z]+?)s?\s*", slot.lower())
        if not found or found[2] not in _UNITS:
            raise SlotError(f"slot {slot!r} is not understood: write it like '30min', '15min', '1h' or '20s'")
        seconds = float(int(found[1]) * _UNITS[found[2]])
    else:
        seconds = slot.total_seconds() if isinstance(slot, dt.timedelta) else float(slot)
    if seconds < 1 or not seconds.is_integer() or DAY % seconds:
        near = sorted(_divisors_of_a_day(), key=lambda d: abs(d - seconds))[:2]
        raise SlotError(
            f"a slot of {seconds:g} s does not divide a day into equal slots; "
            f"the nearest that do are {' and '.join(f'{d} s' for d in sorted(near))}"
        )
    return int(seconds)


def zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise SlotError(f"there is no time zone {name!r}: use a name like 'Europe/Lisbon' or 'UTC'") from None


def ticks(store: Store, calendar: Calendar, *lengths: int) -> dict[str, int | str]:
    """The ticks of UTC from a day before the calendar to a day after it: `tz`, `first`, `last`, `midnight`, `tick`.

    `tick` is the longest time, a quarter of an hour at most, that divides all `lengths`, every offset of the zone,
    and the instants at which its clocks change: at 00:01 in Newfoundland before 2011.
    """
    midnight = int(dt.datetime.combine(calendar.start, dt.time(), dt.UTC).timestamp())
    span: dict[str, int | str] = {
        "tz": calendar.tz,
        "first": midnight - DAY,
        "last": midnight + (calendar.days + 1) * DAY,
    }
    changes = store.rows(step("3_slots/_zone_offsets"), **span)
    tick = math.gcd(900, *lengths, *(abs(int(number)) for change in changes for number in change))
    return span | {"midnight": midnight, "tick": tick}


def write_clock(store: Store, release_id: str, calendar: Calendar) -> int:
    """Fill `slots.clock` over the calendar; returns the length of a tick in seconds."""
    span = ticks(store, calendar, calendar.seconds)
    store.clear(Query.load("slots.clock"), release_id=release_id)
    store.execute(
        f"insert into slots.clock by name {step('3_slots/_clock_ticks')}",
        **span | {"release_id": release_id, "seconds": calendar.seconds, "slots": calendar.slots},
    )
    return int(span["tick"])


def write_calendar(store: Store, release_id: str, calendar: Calendar) -> None:
    """Fill `slots.slot`: when each slot of the release begins, by the local clock."""
    slot = np.arange(calendar.slots, dtype=np.int32)
    starts = np.datetime64(calendar.start, "us") + slot.astype(np.int64) * np.timedelta64(calendar.seconds, "s")
    day = slot // calendar.slots_per_day
    frame = pl.DataFrame(
        {
            "release_id": [release_id] * calendar.slots,
            "slot": slot,
            "starts": starts,
            "day": day,
            "slot_of_day": slot % calendar.slots_per_day,
            "weekday": (calendar.start.weekday() + day) % 7 + 1,
        }
    )
    store.clear(Query.load("slots.slot"), release_id=release_id)
    store.insert("slots.slot", frame)


def interpolate(
    store: Store, progress: Progress, *, release_id: str, index_id: int, index: SpatialIndex, calendar: Calendar
) -> None:
    """Fill `slots.interpolated`: straight lines in metres between known cells, then cells again."""
    store.clear(Query.load("slots.interpolated"), release_id=release_id)
    lon0, lat0 = store.rows("select lon0, lat0 from grid.index where index_id = $id", id=index_id)[0]
    metres = LocalMetres(lon0, lat0)
    gaps = store.frame(step("3_slots/_gaps"), release_id=release_id, index_id=index_id, slots=calendar.slots)
    if gaps["x"].null_count() + gaps["next_x"].null_count():
        raise SlotError(f"fill='linear' needs coordinates, and places of index {index.name} have none: use 'static'")
    upto = gaps["missing"].cum_sum().to_numpy()
    cuts = np.searchsorted(upto, np.arange(_GAP_BLOCK, (upto[-1] if len(upto) else 0) + _GAP_BLOCK, _GAP_BLOCK))
    begin = 0
    for cut in cuts:
        end = min(int(cut) + 1, len(gaps))
        store.insert("slots.interpolated", _on_the_line(gaps[begin:end], release_id, index, metres))
        progress.show(end, len(gaps))
        begin = end


def _on_the_line(gaps: pl.DataFrame, release_id: str, index: SpatialIndex, metres: LocalMetres) -> pl.DataFrame:
    """The cell of every missing slot.

    Every twelfth point or so between squares lies on a border, where rounding would decide. It belongs to the side of
    the end that is nearer in time, halfway to that of the western end, or else the southern: it is moved there by a
    millimetre, so a way back leads through the same cells as the way there. Between two stays in one cell is that cell.
    """
    missing = gaps["missing"].to_numpy()
    gap = np.repeat(np.arange(len(gaps)), missing)
    step = np.arange(len(gap)) - np.repeat(np.cumsum(missing) - missing, missing) + 1
    cell = gaps["cell"].to_numpy()[gap]
    moving = np.flatnonzero(cell != gaps["next_cell"].to_numpy()[gap])
    on = gap[moving]
    share, halves = step[moving] / (missing[on] + 1), 2 * step[moving] - (missing[on] + 1)
    x, y, next_x, next_y = (gaps[name].to_numpy() for name in ("x", "y", "next_x", "next_y"))
    east, north = next_x - x, next_y - y
    leaves_west = (east > _HAIR) | ((np.abs(east) <= _HAIR) & (north > 0))
    back = (halves < 0) | ((halves == 0) & leaves_west[on])
    hair = (_HAIR / np.maximum(np.hypot(east, north), _HAIR))[on]
    share = np.clip(share + np.where(back, -hair, hair), 0, 1)
    lon, lat = metres.inverse(x[on] + share * east[on], y[on] + share * north[on])
    cell[moving] = index.assign(lon, lat)
    return pl.DataFrame(
        {
            "release_id": pl.repeat(release_id, len(gap), eager=True),
            "person": gaps["person"].to_numpy()[gap],
            "slot": (gaps["slot"].to_numpy()[gap] + step).astype(np.int32),
            "cell": cell,
        }
    )


def _divisors_of_a_day() -> list[int]:
    return [d for d in range(1, DAY + 1) if DAY % d == 0]
