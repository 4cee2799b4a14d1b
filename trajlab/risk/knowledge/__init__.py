"""Knowledge: what an adversary knows about a person, and how many traces fit. One file per kind.

`points:4` is the file points.py and the setting 4. A file holds a frozen dataclass named
`KNOWLEDGE` at the end, whose fields are its settings in the order in which they follow the
name. It is pure: a `Case` comes in, an `Answer` goes out, and it sees no store.
`docs/add-an-adversary.md` shows how.

A case holds whom to look for as a frame. The visits themselves may be a hundred million, so they are not one:
each kind reads them through `Visits` in the least form that it needs, and what joins or sums them first
is done where they lie. What is read is the same whatever was read before.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar, cast

from trajlab import plugins
from trajlab.errors import RiskError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

T = TypeVar("T")
Show = Callable[[int, int], None]
"""Called now and then with how much of the work is done, and how much there is."""


class Visits(Protocol):
    """Where the traces of a set were, read in the form asked for."""

    def traces(self) -> pl.Series:
        """Every trace, in order, those without a visit too."""
        ...

    def frame(self) -> pl.DataFrame:
        """All visits: trace, slot, cell, visits."""
        ...

    def places(self) -> pl.DataFrame:
        """The places of each trace as in metrics.top_place: trace, rank (1 for most visits), cell, visits, share."""
        ...

    def top(self, places: int, min_share: float) -> pl.DataFrame:
        """The places (trace, rank, cell) up to that rank, or with that share of the visits or more."""
        ...

    def cells(self) -> pl.Series:
        """The different cells visited, in order."""
        ...

    def extent(self) -> tuple[int, int]:
        """The largest number of a trace with visits, and the largest slot; 0 where there is none."""
        ...

    def keys(self, cells: pl.Series, bits: int) -> npt.NDArray[np.int64]:
        """A number for each visit, in any order: trace * 2^bits + slot * len(cells) + where its cell is in `cells`."""
        ...


@dataclass(frozen=True, slots=True)
class Case:
    """What a question is about: visits that something is known from, visits that are searched, and whom to look for."""

    known: Visits
    searched: Visits
    """The very same object where the traces are searched that something is known from."""
    targets: pl.DataFrame
    """A row for each trace looked for, in order: trace, own (the person's trace among those searched, or null), lot."""
    slots: Callable[[], pl.DataFrame]
    """The calendar: slot, starts (local time)."""
    map: Callable[[], pl.DataFrame]
    """Where cells are: cell, lat, lng."""
    threads: int = 1
    divided: Callable[[object], Answer] | None = None
    """Takes over from here, where these are the traces of one shard of many; None where they are all."""
    memo: dict[str, object] | None = None
    """What questions about the same visits share; None where only one is asked, and nothing is worth its memory."""

    @property
    def same(self) -> bool:
        return self.known is self.searched

    def share(self, name: str, make: Callable[[], T]) -> T:
        """What `make` makes, made once for all questions about these visits."""
        if self.memo is None:
            return make()
        if name not in self.memo:
            self.memo[name] = make()
        return cast("T", self.memo[name])


@dataclass(frozen=True, slots=True)
class Answer:
    """In how large a crowd everybody looked for is hidden, and what was known of them."""

    people: pl.DataFrame
    """A row for each trace: trace, known, k, found, pick_chance, mean_pick_chance, combinations (metrics.anonymity)."""
    points: pl.DataFrame | None = None
    """The points known, where something in particular is: trace, rank, slot (null without a time), cell."""
    dropped: pl.Series | None = None
    """Traces of the case that are not looked for after all; everybody else must have a row."""


class Knowledge(Protocol):
    """Laws, checked for every kind on true traces (tests/laws/test_knowledge.py):

    - *nobody is nowhere*: k is at least 1 and at most the number of traces, and pick_chance = 1 / k;
    - *seeded*: same traces, settings and seed, same answer, whatever the order of rows;
    - *names mean nothing*: other numbers for people or cells change nobody's k, lots being equal;
    - *more is worse*: whoever knows more of the same kind never has a lower risk for a person (two
      exceptions, with their reasons, are listed there).
    """

    examples: ClassVar[tuple[str, ...]]
    """How it is written, for the laws; {} stands for how much is known, where that can be said."""

    def search(self, case: Case, show: Show) -> Answer:
        """How many traces fit what is known of everybody in `case.targets`.

        Raise `RiskError` where the settings ask for more than anybody has.
        """
        ...


def names() -> list[str]:
    """Every kind of knowledge there is."""
    return plugins.names(__name__)


def kind(name: str) -> type[Knowledge]:
    """The class of that kind of knowledge."""
    found: type[Knowledge] = plugins.load(__name__, name, "knowledge").KNOWLEDGE
    return found


def load(text: str, **settings: object) -> Knowledge:
    """`points:4` or `points` with its settings by name; what does not exist is refused with what does."""
    name, *words = text.split(":") if isinstance(text, str) else [repr(text)]
    kind = plugins.load(__name__, name, "knowledge").KNOWLEDGE
    fields = {field.name: field for field in dataclasses.fields(kind)}
    if len(words) > len(fields):
        raise RiskError(f"{text!r} says too much: {name} takes {_form(name, list(fields))}")
    written = dict(zip(fields, words, strict=False))
    if twice := [setting for setting in settings if setting in written]:
        raise RiskError(f"{text!r} says {twice[0]} already: say it once")
    given = written | settings
    for setting in given:
        if setting not in fields:
            raise RiskError(f"knowledge {name} has no setting {setting!r}; it has {', '.join(fields) or 'none'}")
    missing = [field.name for field in fields.values() if field.default is dataclasses.MISSING]
    if absent := [each for each in missing if each not in given]:
        raise RiskError(f"{text!r} does not say {' and '.join(absent)}: write {_form(name, list(fields))}")
    knowledge: Knowledge = kind(**{name: _parse_value(fields[name], value) for name, value in given.items()})
    return knowledge


def name_of(knowledge: Knowledge) -> str:
    """The shortest text that stands for the knowledge, without the settings at its end that hold anyway: `points:4`."""
    words = in_full(knowledge).split(":")
    defaults = [_write_value(field.default) for field in dataclasses.fields(knowledge)]  # type: ignore[arg-type]
    while defaults and words[-1] == defaults.pop():
        words.pop()
    return ":".join(words)


def in_full(knowledge: Knowledge) -> str:
    """The text with every setting in it: `points:4:all`."""
    module = type(knowledge).__module__.rpartition(".")[2]
    values = dataclasses.asdict(knowledge).values()  # type: ignore[call-overload]
    return ":".join([module, *map(_write_value, values)])


def _write_value(value: object) -> str:
    return str(value).removesuffix(".0")


def describe(name: str) -> str:
    """What is known, in the words of its file."""
    return inspect.cleandoc(str(plugins.load(__name__, name, "knowledge").KNOWLEDGE.__doc__))


def listing() -> str:
    """A line for each kind of knowledge: how it is written, with what holds unless said, and what is known."""
    kinds = {name: plugin.KNOWLEDGE for name, plugin in plugins.load_all(__name__).items()}
    forms = {name: ":".join([name, *map(_write_field, dataclasses.fields(kind))]) for name, kind in kinds.items()}
    width = max(map(len, forms.values()))
    return "\n".join(f"  {forms[name]:<{width}}  {describe(name).splitlines()[0]}" for name in kinds)


def _form(name: str, fields: list[str]) -> str:
    return ":".join([name, *(field.upper() for field in fields)])


def _write_field(field: dataclasses.Field[object]) -> str:
    name = field.name.upper()
    return name if field.default is dataclasses.MISSING else f"{name}={field.default}"


def _parse_value(field: dataclasses.Field[object], value: object) -> object:
    """The setting as its type has it, from text as well."""
    kinds = {"int": int, "float": float}
    kind = kinds.get(str(field.type))
    if kind is None:
        return value
    if isinstance(value, bool) or (kind is int and isinstance(value, float) and not value.is_integer()):
        raise RiskError(f"{field.name} is a number, not {value!r}")
    try:
        return kind(value)
    except (TypeError, ValueError):
        whole = "a whole number" if kind is int else "a number"
        raise RiskError(f"{field.name} is {whole}, not {value!r}") from None
