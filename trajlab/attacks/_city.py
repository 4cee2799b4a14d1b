"""A release as an attack computes with it: counts per slot, and cells on a lattice of whole millimetres.

Cells are numbered by their coordinates, so that nothing depends on the order in which a
release lists them. Whole coordinates make predicted points equal exactly when they are.

Where counts are not exact, or their totals change, there is one place more, outside: whoever no cell
takes is there. Its number is that of the last cell plus one.
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


OUTSIDE = 0.5
"""What leaving for the place outside costs, and coming back, in distances between neighbouring cells."""
SURE = 2.0
"""What a count that is e times less likely costs, in the same distances."""


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
        self.span = 4 * int(lattice.max(initial=1)) + 1
        self.cells = len(self.order)
        self.people = release.people
        self._know(release)
        self.slots, self.slots_per_day = release.slots, release.slots_per_day
        self.seed = seed
        self.cell_keys: Keys = keys(seed, self.x, self.y)
        if not self.exact:
            self.cell_keys = np.append(self.cell_keys, keys(seed, [-1], [-1]))
        self.track_keys: Keys = keys(seed, np.arange(self.people))
        self.codes = self._code(self.x, self.y)
        self.by_code = np.argsort(self.codes, kind="stable")
        self.xy = self.points(self.codes)
        seconds = 86_400 // self.slots_per_day
        first = int(dt.timedelta(hours=release.start.hour, minutes=release.start.minute).total_seconds())
        self.is_night = (first + seconds * np.arange(self.slots_per_day)) % 86_400 < night_hours * 3600

    def _know(self, release: Release) -> None:
        """What is known of the counts; they are `exact` where nobody can be outside either."""
        known = release.known()
        self.low = known.low[:, self.order]
        self.high = np.maximum(np.minimum(known.high[:, self.order], self.people), self.low)
        self.exact = known.exact and bool((self.low.sum(axis=1) == self.people).all())
        self.places = self.cells + (not self.exact)
        spacing = 1.0 if self.exact else neighbour_distance(release.xy())
        self.outside_price, self.price = OUTSIDE * spacing, known.price * SURE * spacing
        self.weight = listed_share(release)[self.order]

    @property
    def counts(self) -> Ints:
        """Slots × cells, where they are exact; else the lowest that they can be."""
        return self.low

    @property
    def days(self) -> int:
        return -(-self.slots // self.slots_per_day)

    def day(self, number: int) -> tuple[Ints, Ints]:
        """Lowest and highest counts of one day, slots × cells; the last day may be shorter."""
        day = slice(number * self.slots_per_day, (number + 1) * self.slots_per_day)
        return self.low[day], self.high[day]

    def ahead(self, before: Ints, now: Ints) -> Ints:
        """The lattice point that a track reaches by going on as it did: 2·now − before; none comes from outside."""
        if not self.exact:
            before = np.where(before == self.cells, now, before)
        return self._code(2 * self.x[now] - self.x[before], 2 * self.y[now] - self.y[before])

    def points(self, code: Ints) -> Floats:
        """Lattice points in metres."""
        x = (code + self.span // 2) // self.span
        metres: Floats = np.column_stack([x, code - x * self.span]) * self.step
        return metres

    def _code(self, x: Ints, y: Ints) -> Ints:
        """One number for a lattice point up to a city's width outside it."""
        return x * self.span + y

    def cell_at(self, code: Ints) -> Ints:
        """The cell that stands at each lattice point, or -1."""
        at = np.searchsorted(self.codes, code, sorter=self.by_code)
        cell = self.by_code[np.minimum(at, self.cells - 1)]
        return np.where(self.codes[cell] == code, cell, -1)

    def chance(self, day: int) -> np.random.Generator:
        """Chance of one day's link: its own, so that neither threads nor an interruption shift it."""
        return np.random.default_rng([self.seed, day])

    def as_listed(self, cells: Ints) -> npt.NDArray[np.int32]:
        """Cell numbers in the order of the release; -1 is outside."""
        return (self.order if self.exact else np.append(self.order, np.int32(-1)))[cells]

    def as_sorted(self, cells: npt.NDArray[np.int32]) -> Ints:
        """The reverse."""
        place = np.full(self.cells + 1, self.cells)
        place[self.order] = np.arange(self.cells)
        return place[cells]


def neighbour_distance(xy: Floats) -> float:
    """Metres from a cell to its nearest neighbour, as a rule."""
    from scipy.spatial import cKDTree

    spots = np.unique(xy, axis=0)
    if len(spots) < 2:
        return 1.0
    apart, _ = cKDTree(spots).query(spots, k=2)
    return float(np.median(apart[:, 1]))


def listed_share(release: Release) -> Floats:
    """In what share of the slots each cell is listed."""
    column = np.searchsorted(release.cells["cell"].to_numpy(), release.counts["cell"].to_numpy())
    return np.bincount(column, minlength=len(release.cells)) / release.slots
