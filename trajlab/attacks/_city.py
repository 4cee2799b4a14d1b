"""A release as an attack computes with it: counts per slot, and cells on a lattice of whole millimetres.

Cells are numbered by their coordinates, so that nothing depends on the order in which a
release lists them. Whole coordinates make predicted points equal exactly when they are.
"""

from __future__ import annotations

import datetime as dt

import numpy as np
import numpy.typing as npt

from trajlab.errors import AttackError
from trajlab.matching.ties import Keys, keys
from trajlab.release import Release

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def check_hours(hours: float) -> None:
    if not 0 <= hours <= 24:
        raise AttackError(f"night_hours is a number of hours between 0 and 24, not {hours:g}")


def by_place(release: Release) -> npt.NDArray[np.int32]:
    """The cells from west to east, then south to north: an order that does not depend on how they are listed."""
    x, y = release.xy().T
    return np.lexsort((y, x)).astype(np.int32)


class City:
    def __init__(self, release: Release, night_hours: float, seed: int) -> None:
        xy = release.xy()
        low = xy.min(axis=0)
        self.order = by_place(release)
        extent = float((xy.max(axis=0) - low).max())
        self.step = max(1e-3, 2.0 ** np.ceil(np.log2(max(extent, 1.0) / 2**28)))
        lattice = np.rint((xy[self.order] - low) / self.step).astype(np.int64)
        self.x, self.y = lattice[:, 0].copy(), lattice[:, 1].copy()
        self.reach = 3.0 * float(np.hypot(*(xy.max(axis=0) - low)))
        self._span = 4 * int(lattice.max(initial=1)) + 1
        self.counts = release.matrix()[:, self.order]
        self.cells = len(self.order)
        self.people = int(self.counts[0].sum())
        self.slots, self.slots_per_day = release.slots, release.slots_per_day
        self.seed = seed
        self.cell_keys: Keys = keys(seed, self.x, self.y)
        self.track_keys: Keys = keys(seed, np.arange(self.people))
        self.codes = self._code(self.x, self.y)
        self._by_code = np.argsort(self.codes, kind="stable")
        self.xy = self.points(self.codes)
        seconds = 86_400 // self.slots_per_day
        first = int(dt.timedelta(hours=release.start.hour, minutes=release.start.minute).total_seconds())
        self.is_night = (first + seconds * np.arange(self.slots_per_day)) % 86_400 < night_hours * 3600

    @property
    def days(self) -> int:
        return -(-self.slots // self.slots_per_day)

    def day(self, number: int) -> Ints:
        """Counts of one day, slots × cells; the last day may be shorter."""
        return self.counts[number * self.slots_per_day : (number + 1) * self.slots_per_day]

    def ahead(self, before: Ints, now: Ints) -> Ints:
        """The lattice point that a track reaches by going on as it did: 2·now − before."""
        return self._code(2 * self.x[now] - self.x[before], 2 * self.y[now] - self.y[before])

    def points(self, code: Ints) -> Floats:
        """Lattice points in metres."""
        x = (code + self._span // 2) // self._span
        metres: Floats = np.column_stack([x, code - x * self._span]) * self.step
        return metres

    def _code(self, x: Ints, y: Ints) -> Ints:
        """One number for a lattice point up to a city's width outside it."""
        return x * self._span + y

    def cell_at(self, code: Ints) -> Ints:
        """The cell that stands at each lattice point, or -1."""
        at = np.searchsorted(self.codes, code, sorter=self._by_code)
        cell = self._by_code[np.minimum(at, self.cells - 1)]
        return np.where(self.codes[cell] == code, cell, -1)

    def chance(self, day: int) -> np.random.Generator:
        """Chance of one day's link: its own, so that neither threads nor an interruption shift it."""
        return np.random.default_rng([self.seed, day])

    def as_listed(self, cells: Ints) -> npt.NDArray[np.int32]:
        """Cell numbers in the order of the release."""
        return self.order[cells]

    def as_sorted(self, cells: npt.NDArray[np.int32]) -> Ints:
        """The reverse."""
        place = np.empty(self.cells, dtype=np.int64)
        place[self.order] = np.arange(self.cells)
        return place[cells]
