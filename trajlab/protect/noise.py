"""Noise: every count is told a little wrong, so that nobody can tell from the table whether somebody was there.

With `noise:geometric:eps=1:unit=person-day`, a whole number is drawn for every slot and every cell, the empty ones
too, and added to its count. One day of one person moves as many counts as the day has slots, so the numbers are as
large as it takes for any such day to change the chance of any table by a factor of e at most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from trajlab.errors import ProtectionError, UnknownNameError
from trajlab.protect import Table

if TYPE_CHECKING:
    import numpy.typing as npt

    from trajlab.release.known import Known

LAWS = ("geometric", "laplace")
UNITS = ("person-slot", "person-day", "person-week", "person")
_LARGEST = 1e9
"""Scale of noise beyond which it says nothing of anybody, nor of everybody together."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Add noise to all counts, empty cells too: geometric or laplace, `eps` per `unit`, of which `clip` slots count.

    The unit is what can be told apart no better than by a factor of exp(eps): person-slot, person-day, person-week or
    person. It moves one count in each of its slots, or in `clip` of them, drawn for each person: the others are
    not counted. Counts are as drawn, also below 0; Laplace noise is rounded to whole numbers afterwards. Noise
    comes from the seed of the release, so keep it as secret as the records.
    """

    protects: ClassVar[str] = "counts"
    only_removes: ClassVar[bool] = False
    keeps_totals: ClassVar[bool] = False

    law: str
    eps: str = field(metadata={"by_name": True})
    unit: str = field(metadata={"by_name": True})
    clip: str = field(default="", metadata={"by_name": True})

    def __post_init__(self) -> None:
        if self.law not in LAWS:
            raise UnknownNameError("law of noise", self.law, LAWS)
        if self.unit not in UNITS:
            raise UnknownNameError("unit of noise", self.unit, UNITS)
        try:
            eps = float(self.eps)
        except ValueError:
            eps = math.nan
        if not 0 < eps < math.inf:
            raise ProtectionError(
                f"eps must be a number above 0, such as eps=1, not {self.eps!r}: 0 would tell nothing"
            )
        object.__setattr__(self, "eps", f"{eps:.12g}")
        if self.clip:
            if not (self.clip.isascii() and self.clip.isdigit() and int(self.clip) >= 1):
                raise ProtectionError(f"clip must be a whole number of slots, 1 or more, not {self.clip!r}")
            if self.unit == "person-slot":
                raise ProtectionError("clip bounds the slots of a unit that has several: a person-slot has one")
            object.__setattr__(self, "clip", str(int(self.clip)))

    def unit_slots(self, slots: int, slots_per_day: int) -> int:
        """Slots of one unit; a unit that the table is too short for is refused."""
        if self.unit == "person-week" and slots < 7 * slots_per_day:
            raise ProtectionError(
                f"unit=person-week needs a period of a week, and this one has {slots / slots_per_day:g} days: "
                "use unit=person, which is then less than a week of everybody"
            )
        whole = {"person-slot": 1, "person-day": slots_per_day, "person-week": 7 * slots_per_day, "person": slots}
        return min(whole[self.unit], slots)

    def bound(self, slots: int, slots_per_day: int) -> int:
        """The most counts that one unit can move, each by one."""
        most = self.unit_slots(slots, slots_per_day)
        return min(int(self.clip), most) if self.clip else most

    def scale(self, slots: int, slots_per_day: int) -> float:
        scale = self.bound(slots, slots_per_day) / float(self.eps)
        if scale > _LARGEST:
            raise ProtectionError(
                f"eps={self.eps} asks for noise of scale {scale:g}, which leaves nothing of any count"
            )
        return scale

    def variance(self, slots: int, slots_per_day: int) -> float:
        """How far from true a noisy count is, squared, on average."""
        scale = self.scale(slots, slots_per_day)
        alpha = math.exp(-1 / scale)
        return 2 * scale**2 if self.law == "laplace" else 2 * alpha / (1 - alpha) ** 2

    def claim(self, slots: int, slots_per_day: int) -> str:
        """What holds for a unit, and for everything of one person together."""
        units = -(-slots // self.unit_slots(slots, slots_per_day))
        if units == 1:
            return f"ε = {float(self.eps):g} per {self.unit}"
        days = slots / slots_per_day
        over = f"{days:g} day{'s' * (days != 1)}"
        return f"ε = {float(self.eps):g} per {self.unit}, {units * float(self.eps):g} per person over {over}"

    def apply(self, counts: pl.DataFrame, table: Table, rng: np.random.Generator) -> pl.DataFrame:
        if "cell" not in counts.columns:
            return counts.clear()
        cells = table.cells["cell"].sort()
        values = np.zeros((table.slots, len(cells)), dtype=np.int64)
        column = np.searchsorted(cells.to_numpy(), counts["cell"].to_numpy())
        values[counts["slot"].to_numpy(), column] = counts["people"].to_numpy()
        values += self.draw(self.scale(table.slots, table.slots_per_day), values.shape, rng)
        return pl.DataFrame(
            {
                "slot": np.repeat(np.arange(table.slots, dtype=np.int32), len(cells)),
                "cell": np.tile(cells.to_numpy(), table.slots),
                "people": values.ravel(),
            }
        ).with_columns(contributors=pl.lit(None, pl.Int64))

    def draw(self, scale: float, shape: tuple[int, ...], rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Noise in whole numbers: x is exp(|x| / scale) times less likely than 0."""
        if self.law == "laplace":
            return np.rint(rng.laplace(0.0, scale, shape)).astype(np.int64)
        # The whole part of an exponential number is geometric, and ten times faster to draw.
        up, down = (np.floor(rng.standard_exponential(shape) * scale) for _ in range(2))
        return (up - down).astype(np.int64)

    def undo(self, known: Known, listed: npt.NDArray[np.bool_], slots_per_day: int) -> Known:
        return replace(
            known,
            low=np.maximum(known.low, 0),
            high=np.maximum(known.high, 0),
            price=1 / self.scale(listed.shape[0], slots_per_day),
        )


PROTECTION = Noise
