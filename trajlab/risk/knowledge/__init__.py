"""Knowledge: what an adversary knows about a person, and how many traces fit. One file per kind.

`points:4` is the file points.py and the setting 4. A file holds a frozen dataclass named
`KNOWLEDGE` at the end, whose fields are its settings in the order in which they follow the
name. What it has to do is to fill `metrics.anonymity` for everybody in `metrics.target`.
`docs/add-an-adversary.md` shows how.
"""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from trajlab import plugins
from trajlab.errors import RiskError

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.store import Store


@dataclass(frozen=True, slots=True)
class Question:
    """Which traces the knowledge is from, which are searched, and the id that the answer carries."""

    risk_id: str
    release_id: str
    known_id: str
    searched_id: str


class Knowledge(Protocol):
    """Laws, checked for every kind on true traces (tests/laws/test_knowledge.py):

    - *nobody is nowhere*: k is at least 1 and at most the number of traces, and risk = 1 / k;
    - *seeded*: same traces, settings and seed, same answer, whatever the order of rows;
    - *names mean nothing*: other numbers for people or cells change nobody's k, lots being equal;
    - *more is worse*: whoever knows more of the same kind never has a lower risk for a person (two
      exceptions, with their reasons, are listed there).
    """

    def search(self, store: Store, ask: Question, progress: Progress) -> None:
        """Add a row to `metrics.anonymity` for everybody in `metrics.target`, inside a transaction.

        Raise `RiskError` where the settings ask for more than anybody has.
        """
        ...


def names() -> list[str]:
    """Every kind of knowledge there is."""
    return plugins.names(__name__)


def load(text: str, **settings: object) -> Knowledge:
    """`points:4` or `points` with its settings by name; what does not exist is refused with what does."""
    name, *words = text.split(":") if isinstance(text, str) else [repr(text)]
    kind = plugins.load(__name__, name, "knowledge").KNOWLEDGE
    fields = {field.name: field for field in dataclasses.fields(kind)}
    if len(words) > len(fields):
        raise RiskError(f"{text!r} says too much: {name} takes {_form(name, list(fields))}")
    said = dict(zip(fields, words, strict=False))
    if twice := [setting for setting in settings if setting in said]:
        raise RiskError(f"{text!r} says {twice[0]} already: say it once")
    given = said | settings
    for setting in given:
        if setting not in fields:
            raise RiskError(f"knowledge {name} has no setting {setting!r}; it has {', '.join(fields) or 'none'}")
    missing = [field.name for field in fields.values() if field.default is dataclasses.MISSING]
    if absent := [each for each in missing if each not in given]:
        raise RiskError(f"{text!r} does not say {' and '.join(absent)}: write {_form(name, list(fields))}")
    knowledge: Knowledge = kind(**{name: _value(fields[name], value) for name, value in given.items()})
    return knowledge


def name_of(knowledge: Knowledge) -> str:
    """The shortest text that stands for the knowledge, without the settings at its end that hold anyway: `points:4`."""
    words = in_full(knowledge).split(":")
    defaults = [_told(field.default) for field in dataclasses.fields(knowledge)]  # type: ignore[arg-type]
    while defaults and words[-1] == defaults.pop():
        words.pop()
    return ":".join(words)


def in_full(knowledge: Knowledge) -> str:
    """The text with every setting in it: `points:4:all`."""
    module = type(knowledge).__module__.rpartition(".")[2]
    values = dataclasses.asdict(knowledge).values()  # type: ignore[call-overload]
    return ":".join([module, *map(_told, values)])


def _told(value: object) -> str:
    return str(value).removesuffix(".0")


def describe(name: str) -> str:
    """What is known, in the words of its file."""
    return inspect.cleandoc(str(plugins.load(__name__, name, "knowledge").KNOWLEDGE.__doc__))


def listing() -> str:
    """A line for each kind of knowledge: how it is written, with what holds unless said, and what is known."""
    kinds = {name: plugin.KNOWLEDGE for name, plugin in plugins.load_all(__name__).items()}
    forms = {name: ":".join([name, *map(_shown, dataclasses.fields(kind))]) for name, kind in kinds.items()}
    width = max(map(len, forms.values()))
    return "\n".join(f"  {forms[name]:<{width}}  {describe(name).splitlines()[0]}" for name in kinds)


def _form(name: str, fields: list[str]) -> str:
    return ":".join([name, *(field.upper() for field in fields)])


def _shown(field: dataclasses.Field[object]) -> str:
    name = field.name.upper()
    return name if field.default is dataclasses.MISSING else f"{name}={field.default}"


def _value(field: dataclasses.Field[object], value: object) -> object:
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
