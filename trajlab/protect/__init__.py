"""Protections: what can be done to traces before they are published. One file per protection.

`cut:6h` is the file cut.py and the setting 6h. A file holds a frozen dataclass named
`PROTECTION` at the end, whose fields are its settings in the order in which they follow the
name. It changes where and when the visits of a person are, or divides them into parts; every
(person, part) then becomes a trace of its own, under a fresh id. `docs/add-a-protection.md`
shows how.
"""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from trajlab import plugins
from trajlab.errors import ProtectionError

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Period:
    """The slots of the traces: how many, and how long each is."""

    slots: int
    slot_seconds: int


class Protection(Protocol):
    """Laws, checked for every protection (tests/laws/test_protections.py):

    - *nothing from nowhere*: nobody gets a visit who had none, and what `keeps_visits` says is true;
    - *seeded*: same visits, same settings, same result, whatever the order of rows;
    - *one by one*: what becomes of somebody's visits does not depend on whose others are there;
    - *fresh*: ids of traces repeat nowhere, and depend on a key that only the lab has.
    """

    keeps_visits: ClassVar[bool]
    """Whether every visit is still there, at the same time in the same cell."""

    def apply(self, visits: pl.LazyFrame, period: Period) -> pl.LazyFrame:
        """Visits (`person, slot, cell, visits`) as they may be published, and to which `part` each belongs."""
        ...


def names() -> list[str]:
    """Every protection there is."""
    return plugins.names(__name__)


def load(text: str) -> Protection:
    """`cut:6h` as a protection; what does not exist is refused with what does."""
    name, *words = text.split(":") if isinstance(text, str) else [repr(text)]
    kind = plugins.load(__name__, name, "protection").PROTECTION
    fields = [field.name for field in dataclasses.fields(kind)]
    if len(words) != len(fields):
        raise ProtectionError(f"{text!r} is not {':'.join([name, *fields])}: {name} takes {len(fields)} settings")
    protection: Protection = kind(*words)
    return protection


def describe(name: str) -> str:
    """What the protection does, in its own words."""
    return inspect.cleandoc(str(plugins.load(__name__, name, "protection").PROTECTION.__doc__))
