"""The stretches of time over which recovered tracks are compared with people.

xu2017 recovers nights, then whole days, then links the days. Linking moves whole days from track
to track and changes nothing within them, so the result of every stage can be read off the final
tracks: stage 1 from each day's night, stage 2 from each day, stage 3 from everything.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """The slots from `first` up to, not including, `stop`."""

    stage: int
    first: int
    stop: int


def parts(slots: int, slots_per_day: int, night_slots: int) -> list[Part]:
    """Each day's night, then the day; everything at the end. The last day may be a short one."""
    found: list[Part] = []
    for first in range(0, slots, slots_per_day):
        stop = min(first + slots_per_day, slots)
        if night_slots:
            found.append(Part(1, first, min(first + night_slots, stop)))
        found.append(Part(2, first, stop))
    return [*found, Part(3, 0, slots)]


def night_slots(start: dt.time, slots_per_day: int) -> int:
    """How many slots at the beginning of a day, whose first starts at `start`, start before 06:00."""
    begun = (start.hour * 60 + start.minute) * 60 + start.second
    return max(0, -((begun - 6 * 3600) * slots_per_day // 86_400))
