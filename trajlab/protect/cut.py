"""Cutting: nobody can be followed for longer than a window (song2014, section 3.2).

With `cut:6h`, Ana's Monday becomes four traces under four ids: 00:00 to 06:00, 06:00 to
12:00, and so on. Every visit stays where and when it was; what goes is the thread between windows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from trajlab.errors import ProtectionError
from trajlab.protect import Period

_UNITS = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "hour": 3600, "d": 86_400, "day": 86_400}
_LONGEST = 3653 * 86_400
"""Ten years, in seconds."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Cut every trace into windows of `window` (6h, 90min, 1d, 45s), each under a fresh id.

    Windows are half-open and counted from the start of the release; a visit belongs to the
    window in which its slot begins. They follow the local clock, as slots do. The window is
    kept in hours, else minutes, else seconds, whichever is whole: 1d is 24h.
    """

    keeps_visits: ClassVar[bool] = True

    window: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "window", _spelled(_seconds(self.window)))

    def apply(self, visits: pl.LazyFrame, period: Period) -> pl.LazyFrame:
        window = _seconds(self.window)
        if period.slots * period.slot_seconds // window >= 2**31:
            raise ProtectionError(f"cut:{self.window} makes more windows of this period than can be numbered")
        # In 32 bits where they suffice, which is below 68 years: half the memory.
        wide = pl.Int32 if period.slots * period.slot_seconds < 2**31 else pl.Int64
        begins = pl.col("slot").cast(wide) * pl.lit(period.slot_seconds, wide)
        return visits.with_columns(part=(begins // pl.lit(window, wide)).cast(pl.Int32))


def _seconds(window: str) -> int:
    found = re.fullmatch(r"\s*([0-9]{1,9})\s*([a-z]+?)s?\s*", window.lower()) if isinstance(window, str) else None
    if not found or found[2] not in _UNITS:
        raise ProtectionError(f"window {window!r} is not understood: write it like '6h', '90min', '1d' or '45s'")
    seconds = int(found[1]) * _UNITS[found[2]]
    if not 1 <= seconds <= _LONGEST:
        raise ProtectionError(f"window {window!r} must be at least a second and at most ten years")
    return seconds


def _spelled(seconds: int) -> str:
    unit, length = next((unit, length) for unit, length in (("h", 3600), ("min", 60), ("s", 1)) if not seconds % length)
    return f"{seconds // length}{unit}"


PROTECTION = Cut
