"""Protections: what can be done to traces or to counts before they are published. One file per protection.

`cut:6h` is the file cut.py and the setting 6h; `suppress:15:secondary` and `noise:geometric:eps=1:unit=person-day`
are others. A file holds a frozen dataclass named `PROTECTION` at the end, whose fields are its settings: in the
order in which they follow the name, or as `name=value`; those with a default may be left out.

There are three kinds, and `protects` says which one is. *traces*: it changes where and when the visits of a person
are, or divides them into parts; every (person, part) then becomes a trace of its own, under a fresh id
(`lab.protect`). *counts*: it changes a table of counts. *settings*: it makes the release coarser before anybody is
counted. The last two make up the recipe of a release (`lab.release(protect=[...])`), which is published with
it. `docs/add-a-protection.md` shows how.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from trajlab.errors import ProtectionError
from trajlab.plugins import load as load_plugin
from trajlab.plugins import names as plugin_names

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    from trajlab.release.known import Known

TRACES, COUNTS, SETTINGS = "traces", "counts", "settings"


@dataclass(frozen=True, slots=True)
class Period:
    """The slots of the traces: how many, and how long each is."""

    slots: int
    slot_seconds: int


class Protection(Protocol):
    """Laws, checked for every protection of traces (tests/laws/test_protections.py):

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


@dataclass(frozen=True, slots=True)
class Table:
    """What is known of a table of counts besides the counts, none of it about anybody.

    `cells` are the cells that there are (`cell, parent_cell`), also those where nobody was.
    """

    slots: int
    slots_per_day: int
    cells: pl.DataFrame


class CountProtection(Protocol):
    """Laws, checked for every protection of counts (tests/laws/test_count_protections.py):

    - *seeded*: same counts, same settings, same generator, same result, whatever the order of rows;
    - *honest*: what `undo` says of the counts before is true of them;
    - *keeps its promise*: `only_removes` and `keeps_totals` are true where they are said.
    """

    protects: ClassVar[str]
    only_removes: ClassVar[bool]
    """Whether what is left is left as it was."""
    keeps_totals: ClassVar[bool]
    """Whether the people of a slot add up to as many as before."""

    def apply(self, counts: pl.DataFrame, table: Table, rng: np.random.Generator) -> pl.DataFrame:
        """Counts as they may be published, sorted by what they count.

        `people` is the number as it stands, `contributors` how many distinct people are behind it: null once
        that may no longer be used, since noise makes the number all that there is. The other columns say
        what is counted: `slot, cell`, or `slot, origin, destination`. What is not in the table is 0.
        """
        ...

    def undo(self, known: Known, listed: npt.NDArray[np.bool_], slots_per_day: int) -> Known:
        """What somebody who knows the protection can say of the counts before it, from what is known after it.

        `listed` says which slots and cells the published table has, and is of the shape of `known`.
        """
        ...


def names(protects: str | None = None) -> list[str]:
    """Every protection there is, or those of traces, counts or settings."""
    found = plugin_names(__name__)
    return [name for name in found if protects in (None, kind_of(name))]


def kind_of(name: str) -> str:
    """What a protection protects: traces, counts or settings."""
    return str(getattr(_class(name), "protects", TRACES))


def load(text: str) -> Any:
    """`cut:6h` as a protection; what does not exist is refused with what does."""
    name, *words = text.split(":") if isinstance(text, str) else [repr(text)]
    kind = _class(name)
    fields = dataclasses.fields(kind)
    if len(fields) == 1 and getattr(kind, "takes_everything", False):
        words = [":".join(words)] if words else []
    given = _settings(kind, words)
    missing = [field.name for field in fields if field.default is dataclasses.MISSING and field.name not in given]
    if missing or len(given) != len(words):
        needed = sum(field.default is dataclasses.MISSING for field in fields)
        number = f"{len(fields)}" if needed == len(fields) else f"{needed} to {len(fields)}"
        raise ProtectionError(f"{text!r} is not {':'.join([name, *_pattern(kind)])}: {name} takes {number} settings")
    return kind(**given)


def load_traces(text: str) -> Protection:
    """A protection of traces; one of counts is refused with the place where it belongs."""
    found: Protection = load(text)
    if (kind := getattr(found, "protects", TRACES)) != TRACES:
        raise ProtectionError(
            f"{text!r} protects counts, not traces: publish with lab.release(protect=[{text!r}]), "
            f"trajlab release --protect {text}"
            if kind == COUNTS
            else f"{text!r} changes a release, not traces: publish with lab.release(protect=[{text!r}]), "
            f"trajlab release --protect {text}"
        )
    return found


def load_recipe(texts: str | Sequence[str]) -> tuple[Any, ...]:
    """The protections of a release in their order; an order without sense is refused."""
    given = [texts] if isinstance(texts, str) else list(texts)
    found = tuple(load(text) for text in given)
    for text, protection in zip(given, found, strict=True):
        if getattr(protection, "protects", TRACES) == TRACES:
            raise ProtectionError(
                f"{text!r} protects traces, not counts: make the release without it, then lab.protect(release, "
                f"{text!r}), trajlab protect LAB {text}"
            )
    places = [ORDER.index(_name(protection)) for protection in found]
    for before, after in zip(range(len(found)), range(1, len(found)), strict=False):
        _refuse_order(name_of(found[before]), name_of(found[after]), places[before], places[after])
    return found


def name_of(protection: object) -> str:
    """The text that stands for the protection, every setting as it was understood: `cut:6h`."""
    return ":".join([_name(protection), *_words(protection)])


def describe(name: str) -> str:
    """What the protection does, in its own words."""
    return inspect.cleandoc(str(_class(name).__doc__))


ORDER = ("generalise", "slots", "noise", "suppress", "round")
"""Coarser first, then noise on whole counts, then what may be done to any table."""


def _refuse_order(before: str, after: str, place: int, next_place: int) -> None:
    if place < next_place:
        return
    kinds = ORDER[place], ORDER[next_place]
    if kinds[0] == kinds[1]:
        raise ProtectionError(f"{before} and {after} are the same protection twice: give it once")
    if kinds[1] in ("generalise", "slots"):
        why = "cells and slots are made larger before anybody is counted in them"
    elif kinds[1] == "noise":
        why = f"noise on counts that {kinds[0]} changed would hide less than its ε says"
    else:
        why = f"{kinds[1]} goes by the counts, and {kinds[0]} has changed them"
    raise ProtectionError(f"{after} cannot come after {before}: {why}; write {after} first")


def _class(name: str) -> Any:
    return load_plugin(__name__, name, "protection").PROTECTION


def _name(protection: object) -> str:
    return type(protection).__module__.rpartition(".")[2]


def _settings(kind: Any, words: Sequence[str]) -> dict[str, str]:
    """Words by the names of their fields; what has no field is not among them."""
    fields = {field.name: field for field in dataclasses.fields(kind)}
    given: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if equals and name in fields and not getattr(kind, "takes_everything", False):
            given[name] = value
            continue
        free = [field for field in fields if field not in given and not fields[field].metadata.get("by_name")]
        if free:
            given[free[0]] = word
    return given


def _pattern(kind: Any) -> list[str]:
    words = []
    for field in dataclasses.fields(kind):
        word = f"{field.name}=…" if field.metadata.get("by_name") else field.name
        words.append(word if field.default is dataclasses.MISSING else f"[{word}]")
    return words


def _words(protection: Any) -> list[str]:
    words = []
    for field in dataclasses.fields(protection):
        value = getattr(protection, field.name)
        if field.default is dataclasses.MISSING or value != field.default:
            words.append(f"{field.name}={value}" if field.metadata.get("by_name") else str(value))
    return words
