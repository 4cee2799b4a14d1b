"""Generalisation: larger cells. With `generalise:h3:7`, people are counted in the hexagons of a coarser resolution."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from trajlab.errors import ProtectionError


@dataclass(frozen=True, slots=True)
class Generalise:
    """Count people in the larger cells of `index` (h3:7, square:2000, stations:800) instead of the release's own.

    The release is then simply one with these cells: every record is placed in them, whatever the finer cell was.
    """

    protects: ClassVar[str] = "settings"
    takes_everything: ClassVar[bool] = True

    index: str

    def __post_init__(self) -> None:
        if not self.index.strip() or " " in self.index:
            raise ProtectionError(f"generalise needs an index with larger cells, such as h3:7, not {self.index!r}")

    def rewrite(self, settings: Any, coarser: Callable[[str, str], bool]) -> Any:
        if not coarser(settings.index, self.index):
            raise ProtectionError(
                f"generalise:{self.index} does not make the cells of {settings.index} larger: name a coarser index"
            )
        return dataclasses.replace(settings, index=self.index)


PROTECTION = Generalise
