"""Suppression: counts of few people are left out.

With `suppress:15`, a cell in which 14 people are in a slot is not listed there, like a cell where nobody is.
What is left out is between 0 and 14; what is listed is as it was.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from trajlab.errors import ProtectionError
from trajlab.protect import Table
from trajlab.protect._secondary import hidden

if TYPE_CHECKING:
    import numpy.typing as npt

    from trajlab.release.known import Known

_MOST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Suppress:
    """Leave out counts of fewer than `k` people; with `secondary`, as many more as keep these hidden.

    It goes by the distinct people behind a count, whatever was done to the number. After noise there is only the
    number: it is then what is done to a table that is out, and protects nobody further. `secondary` leaves out
    further counts, the smallest that will do, so that no count of few people follows from the total of its slot
    and the totals of larger cells, those that are left out for the same reason aside.
    """

    protects: ClassVar[str] = "counts"
    only_removes: ClassVar[bool] = True
    keeps_totals: ClassVar[bool] = False

    k: str
    secondary: str = ""

    def __post_init__(self) -> None:
        if not (self.k.isascii() and self.k.isdigit() and 2 <= int(self.k) <= _MOST):
            raise ProtectionError(f"suppress needs a whole number of people, 2 or more, not {self.k!r}")
        if self.secondary not in ("", "secondary"):
            raise ProtectionError(f"suppress:{self.k}:{self.secondary} is not understood: write suppress:15:secondary")
        object.__setattr__(self, "k", str(int(self.k)))

    def apply(self, counts: pl.DataFrame, table: Table, rng: np.random.Generator) -> pl.DataFrame:
        keys = [name for name in counts.columns if name not in ("people", "contributors")]
        counts = counts.sort(keys)
        behind = pl.coalesce("contributors", "people")
        if not self.secondary:
            return counts.filter(behind >= int(self.k))
        if counts["contributors"].null_count():
            raise ProtectionError(
                "suppress with secondary is for counts that add up to their totals, and noise leaves no totals to "
                f"protect: write suppress:{self.k}"
            )
        if "cell" not in keys:
            return counts.clear()
        return counts.filter(~hidden(counts, table.cells, int(self.k))["hidden"])

    def undo(self, known: Known, listed: npt.NDArray[np.bool_], slots_per_day: int) -> Known:
        k = int(self.k)
        most = _MOST if self.secondary else k - 1
        large = listed & (known.high >= k)  # whoever lists smaller numbers lists empty cells, and hides no zeros
        return replace(
            known,
            low=np.where(large, np.maximum(known.low, k), np.where(listed, known.low, 0)),
            high=np.where(listed, known.high, np.maximum(known.high, most)),
        )


PROTECTION = Suppress
