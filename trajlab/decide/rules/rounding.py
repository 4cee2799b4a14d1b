"""rounding: to which base values are rounded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trajlab.decide import INFERENCE, NUMBER, TABLE, Finding
from trajlab.protect import load_recipe
from trajlab.protect.round import PROTECTION as ROUND

if TYPE_CHECKING:
    from trajlab.lab import Lab
    from trajlab.release import Release


@dataclass(frozen=True, slots=True)
class Rounding:
    """The base of which every published value is a multiple, as the release's recipe says; 1 without rounding."""

    concern: ClassVar[str] = INFERENCE
    about: ClassVar[str] = TABLE
    unit: ClassVar[str] = NUMBER
    limit: ClassVar[str] = "at_least"

    def answer(self, lab: Lab, release: Release, limit: float, seed: int) -> Finding:
        bases = [int(each.base) for each in load_recipe(release.recipe) if isinstance(each, ROUND)]
        return Finding(float(bases[0] if bases else 1), "values are multiples of")


RULE = Rounding
