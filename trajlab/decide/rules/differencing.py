"""differencing: how many hidden counts follow from everything that is published together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trajlab.decide import INFERENCE, NUMBER, TABLE, Finding, Unanswerable
from trajlab.errors import DifferencingError, PolicyError
from trajlab.settings import whole_number

if TYPE_CHECKING:
    from trajlab.lab import Lab
    from trajlab.release import Release


WORDS = "hidden counts that can be worked out are"


@dataclass(frozen=True, slots=True)
class Differencing:
    """Hidden counts that come back, exactly or to less than `width` people, from this table and all that is out.

    What is out is the ledger study.published (`trajlab publish`).
    """

    concern: ClassVar[str] = INFERENCE
    about: ClassVar[str] = TABLE
    unit: ClassVar[str] = NUMBER
    limit: ClassVar[str] = "at_most"

    width: int = 3

    def __post_init__(self) -> None:
        whole_number("width", self.width, 1, error=PolicyError)

    def answer(self, lab: Lab, release: Release, limit: float, seed: int) -> Finding:
        try:
            found = lab.differencing(release.id, width=self.width, least=1)
        except DifferencingError as error:
            raise Unanswerable(str(error)) from error
        if found.unsolved and found.recovered + found.narrow <= limit:
            raise Unanswerable(f"{found.unsolved:,} hidden counts are in sums too large to solve")
        beside = f"and {len(found.beside)} more that are out" if found.beside else "by itself"
        if not found.hidden:
            return Finding(0.0, WORDS, note="no count is hidden")
        return Finding(
            float(found.recovered + found.narrow),
            WORDS,
            note=f"of {found.hidden:,}, from this table {beside}: {found.recovered:,} exactly, {found.narrow:,} to "
            f"within {self.width - 1} people",
        )


RULE = Differencing
