"""Attacks: what an adversary makes of a release. One file per attack, found by its name.

A file holds a frozen dataclass whose fields are the attack's settings, named `ATTACK` at the
end, with a docstring that starts with one sentence. It receives a `Release`, which knows no
truth, and a seeded generator, its only source of chance. `docs/add-an-attack.md` shows how.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from trajlab import plugins
from trajlab.attacks._steps import StepLog
from trajlab.errors import AttackError
from trajlab.release import Release

Tracks = npt.NDArray[np.int32]
"""Tracks × slots: which cell of `release.cells`, by position, each recovered track is in; -1: in none of them."""


class Attack(Protocol):
    """Laws, checked for every attack (tests/laws/test_attacks.py):

    - *counts kept*: in every slot, as many tracks are in a cell as the release counts, or as it allows
      (`release.known()`); nobody is in none of the cells unless totals change or counts are hidden;
    - *seeded*: same release, settings and seed, same tracks, whatever the order of rows and
      cells (`city.City` numbers cells by where they are);
    - *willing*: a release that meets `requires` is attacked, any other is refused.
    """

    requires: ClassVar[tuple[str, ...]]

    def recover(self, release: Release, rng: np.random.Generator, log: StepLog) -> Tracks: ...


@runtime_checkable
class Online(Protocol):
    """An attack that works day by day, and can go on from days that it recovered before."""

    def days(self, release: Release, rng: np.random.Generator, log: StepLog, known: Tracks | None) -> Iterator[Tracks]:
        """The tracks of one more day each time, joined to those before; `known` are the days already done."""
        ...


def names() -> list[str]:
    """Every attack there is."""
    return plugins.names(__name__)


def load(name: str, **settings: object) -> Attack:
    """The attack of that name with its settings; unknown names of either kind are refused with those that exist."""
    kind = plugins.load(__name__, name, "attack").ATTACK
    fields = {field.name: field for field in dataclasses.fields(kind)}
    for setting in settings:
        if setting not in fields:
            known = f"it has {', '.join(sorted(fields))}" if fields else "it has none"
            raise AttackError(f"attack {name} has no setting {setting!r}; {known}")
    attack: Attack = kind(**{setting: _value(fields[setting], value) for setting, value in settings.items()})
    return attack


def _value(field: dataclasses.Field[object], value: object) -> object:
    """Numbers as the setting has them, so that 6 and 6.0 name the same run."""
    if field.type == "float":
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise AttackError(f"{field.name} is a number, not {value!r}")
        return float(value)
    return value


def describe(name: str) -> str:
    """What the attack does, in its own words."""
    return inspect.cleandoc(str(plugins.load(__name__, name, "attack").ATTACK.__doc__))
