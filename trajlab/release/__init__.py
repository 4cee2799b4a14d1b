"""Release: what is published, and the id that names it. It knows no truth.

An attack receives a `Release` and nothing else. It can be read out of a lab
(`lab.release`) or made from a table that somebody published (`Release.from_matrix`).
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from trajlab.errors import ReleaseError, UnknownNameError

if TYPE_CHECKING:
    from pathlib import Path

    from trajlab.release.known import Known


@dataclass(frozen=True, repr=False)
class Release:
    """All that an adversary can see: counts, cells, slots.

    `counts` has one row per published count (`slot, cell, people`), `cells` one row per
    published cell (`cell, x, y` in metres, and what else is known of it). A cell that
    is missing from a slot has nobody there, or fewer than `min_count`. `recipe` names the protections
    that the counts went through, in order (`suppress:15`, `round:5`): whoever attacks knows them, and
    `known()` says what is left to know of every count. `total` is how many people the table is about at
    least and at most, where that is published. `notes` are for whoever made the release: what was
    left out, moved or filled in on the way.
    """

    id: str
    counts: pl.DataFrame
    cells: pl.DataFrame
    slots: int
    slots_per_day: int
    start: dt.datetime
    index: str = "matrix"
    tz: str = "local"
    min_count: int = 1
    flows: pl.DataFrame | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    recipe: tuple[str, ...] = ()
    total: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if self.slots < 1:
            raise ReleaseError("a release needs at least one slot")
        if self.slots_per_day < 1 or 86_400 % self.slots_per_day:
            raise ReleaseError(f"{self.slots_per_day} slots a day do not divide 24 hours into whole seconds")

    @classmethod
    def from_matrix(
        cls,
        counts: npt.ArrayLike | pl.DataFrame | str | Path,
        xy: npt.ArrayLike | pl.DataFrame | str | Path,
        slots_per_day: int | None = None,
        *,
        start: dt.datetime | str | None = None,
        unit: Literal["m", "km"] | None = None,
        protect: str | Sequence[str] = (),
        people: int | tuple[int, int] | None = None,
    ) -> Release:
        """A release from a published table: T slots × m cells of people, and where the cells are.

        `counts` is a (T, m) array, a wide frame or CSV (a time column, then one column per
        cell), or a long frame (`slot` or a time, `cell`, `people`). `xy` is an (m, 2) array
        or a frame or CSV (`cell, x, y`; `x_km, y_km` are kilometres). `unit` says what plain
        coordinates are in; left out, they are taken as metres unless they look like degrees.
        `slots_per_day` and `start` may be left out where the table has times.

        `protect` says what was done to the counts, as in `lab.release`: an attack then knows what it may make of
        them. Where small counts are left out (`suppress:5`), what is empty, not a number or such as `<5` is
        hidden, and 0 is nobody; in a table without such cells 0 is hidden too. `people` is how many people the table is
        about, or at least and at most, where that is known.
        """
        from trajlab.release.matrix import parse_matrix

        recipe = (protect,) if isinstance(protect, str) else tuple(protect)
        return cls(**parse_matrix(counts, xy, slots_per_day, start=start, unit=unit, recipe=recipe, people=people))

    def __repr__(self) -> str:
        size = f"{self.people:,} people in {len(self.cells):,} cells over {self.slots:,} slots"
        return f"<Release {self.id}: {self.index}, {size} from {self.start:%Y-%m-%d %H:%M}>"

    @functools.cached_property
    def people(self) -> int:
        """How many people the table is about: as published, else as many as its fullest slot is sure to hold."""
        from trajlab.release.population import people

        return people(self)

    def matrix(self) -> npt.NDArray[np.int64]:
        """Counts as (slots, cells) in the order of `cells`; unpublished is 0."""
        dense = np.zeros((self.slots, len(self.cells)), dtype=np.int64)
        column = np.searchsorted(self.cells["cell"].to_numpy(), self.counts["cell"].to_numpy())
        dense[self.counts["slot"].to_numpy(), column] = self.counts["people"].to_numpy()
        return dense

    def known(self) -> Known:
        """What is known of the true count of every slot and cell, in the order of `cells`."""
        from trajlab.release.known import known

        return known(self)

    def xy(self) -> npt.NDArray[np.float64]:
        """Coordinates of the cells in metres, (cells, 2), in the order of `cells`."""
        return self.cells.select("x", "y").to_numpy()

    def unmet(self, *requirements: str) -> list[str]:
        """Why this release lacks what is required of it; empty when it lacks nothing."""
        for name in requirements:
            if name not in REQUIREMENTS:
                raise UnknownNameError("requirement", name, REQUIREMENTS)
        reasons = (REQUIREMENTS[name](self) for name in requirements)
        return [reason for reason in reasons if reason]

    def require(self, *requirements: str) -> None:
        """Raise `ReleaseError` with every reason why an attack could not use this release."""
        if reasons := self.unmet(*requirements):
            raise ReleaseError(f"release {self.id} cannot be attacked this way: {'; '.join(reasons)}")


def _equal_totals(release: Release) -> str | None:
    totals = release.counts.group_by("slot").agg(pl.col("people").sum()).sort("slot")
    most = totals["people"].mode().sort()
    different = totals.filter(pl.col("people") != (most[-1] if len(most) else 0))
    if len(different) == 0:
        return None
    slot, people = different.row(0)
    return (
        f"totals differ between slots: {len(different)} of {len(totals)} slots do not have {most[-1]} people "
        f"(slot {slot} has {people}); publish with fill='static' and min_count=1, or use an attack "
        "that copes with changing totals"
    )


def _population(release: Release) -> str | None:
    from trajlab.release.population import least

    if release.total is None or release.known().price < np.inf:
        return None
    needed = least(release)
    slot = int(needed.argmax())
    over = int(needed[slot]) - release.total[1]
    if over <= 0:
        return None
    return (
        f"no population fits its counts: slot {slot} holds at least {needed[slot]:,} people, {over:,} more than the "
        f"{release.total[1]:,} whom the table is about; check the total and the recipe"
    )


def _exact(release: Release) -> str | None:
    if not release.recipe and release.min_count == 1:
        return None
    how = ", ".join(release.recipe) or f"min_count={release.min_count}"
    return f"its counts are not exact ({how}); use an attack that copes with that"


def _every_slot(release: Release) -> str | None:
    if release.recipe or release.min_count > 1:
        return None  # nothing is listed where all counts are hidden
    present = release.counts["slot"].unique()
    missing = np.setdiff1d(np.arange(release.slots), present.to_numpy())
    if not len(missing):
        return None
    return f"{len(missing)} of {release.slots} slots are missing, the first is slot {missing[0]}"


def _night_start(release: Release) -> str | None:
    if release.start.time() < dt.time(6):
        return None
    return f"the first slot starts at {release.start:%H:%M}; it must start between 00:00 and 06:00"


def _two_days(release: Release) -> str | None:
    if release.slots >= 2 * release.slots_per_day:
        return None
    days = release.slots / release.slots_per_day
    return f"linking days needs at least two of them, and there are {days:.3g}"


def _two_people(release: Release) -> str | None:
    return None if release.people >= 2 else f"there are {release.people} people; at least two are needed"


def _two_cells(release: Release) -> str | None:
    return None if len(release.cells) >= 2 else f"there are {len(release.cells)} cells; at least two are needed"


def _coordinates(release: Release) -> str | None:
    bad = int((~np.isfinite(release.xy()).all(axis=1)).sum())
    return f"{bad} of {len(release.cells)} cells have no coordinates" if bad else None


REQUIREMENTS: dict[str, Callable[[Release], str | None]] = {
    "population": _population,
    "equal totals": _equal_totals,
    "exact": _exact,
    "every slot": _every_slot,
    "night start": _night_start,
    "two days": _two_days,
    "two people": _two_people,
    "two cells": _two_cells,
    "coordinates": _coordinates,
}
"""What an attack may require of a release, by name; each says why it is not met."""
