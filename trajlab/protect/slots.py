"""Longer slots: with `slots:60min`, people are counted by the hour, whatever the release would have done."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from trajlab.errors import ProtectionError
from trajlab.release.slots import slot_seconds


@dataclass(frozen=True, slots=True)
class Slots:
    """Count people in slots of `length` (60min, 3h), several of the release's own.

    The release is then simply one with these slots: somebody is where most of the records of the longer slot are.
    """

    protects: ClassVar[str] = "settings"

    length: str

    def __post_init__(self) -> None:
        seconds = slot_seconds(self.length)
        spelled = next(f"{seconds // size}{unit}" for unit, size in (("min", 60), ("s", 1)) if seconds % size == 0)
        object.__setattr__(self, "length", spelled)

    def rewrite(self, settings: Any, coarser: Callable[[str, str], bool]) -> Any:
        seconds = slot_seconds(self.length)
        if seconds <= settings.slot or seconds % settings.slot:
            raise ProtectionError(
                f"slots:{self.length} is not made of slots of the release: they last {settings.slot} s, and a longer "
                "one is two of them or more, whole ones"
            )
        return dataclasses.replace(settings, slot=seconds)


PROTECTION = Slots
