"""A study as a file: what varies, what is asked of every release, and how much it may cost.

    index = ["square:500", "h3:8"]
    slot = ["30min", "1h"]
    protect = ["none", "suppress:15", "suppress:15 round:5"]
    adversary = ["points:4", "top:2"]
    utility = ["counts", "flows:h3:7"]

    [release]
    days = 7

    [budget]
    minutes = 30

A key that there is not, or a value of the wrong kind, is refused with its line.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import tomllib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from trajlab import attacks, spatial
from trajlab.errors import StudyError, TrajlabError
from trajlab.membership.question import Question
from trajlab.protect import load_recipe, name_of
from trajlab.release.making import Settings
from trajlab.release.slots import slot_seconds
from trajlab.risk import knowledge
from trajlab.risk.traces import BASES

FACTORS = ("index", "slot", "protect", "attack", "adversary", "utility", "membership", "schedule", "seed")
"""Lists of a study file, in the order in which their product is taken."""
ABOUT = ("traces", "table")
NO_RECIPE = "none"
_NOT_IN_FILE = {"index", "slot", "protect", "seed", "population", "group", "min_count"}


@dataclass(frozen=True, slots=True)
class Budget:
    """What a study may cost at most; None for as much as it takes."""

    runs: int | None = None
    minutes: float | None = None


@dataclass(frozen=True, slots=True)
class Design:
    """A study file once it makes sense."""

    title: str = "study"
    index: tuple[str, ...] = ("square:500",)
    slot: tuple[int, ...] = (1800,)
    protect: tuple[tuple[str, ...], ...] = ((),)
    attack: tuple[str, ...] = ()
    adversary: tuple[str, ...] = ()
    utility: tuple[str, ...] = ()
    membership: tuple[str, ...] = ()
    schedule: tuple[str, ...] = ()
    seed: tuple[int, ...] = (0,)
    reference: str = ""
    about: tuple[str, ...] = ABOUT
    basis: str = "slots"
    sample: int | None = None
    pairing: str = "both"
    sizes: tuple[int, ...] | None = None
    targets: int = 100
    groups: int = 100
    release: dict[str, Any] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)

    @property
    def text(self) -> str:
        """What the study asks, whatever the file looked like and whatever it may cost: names the study."""
        asked = {name: value for name, value in asdict(self).items() if name != "budget"}
        return json.dumps(asked, sort_keys=True, default=str)

    def settings(self, index: str, slot: int, recipe: tuple[str, ...], seed: int) -> Settings:
        """The settings of one release of the study."""
        return Settings(index=index, slot=slot, protect=recipe, seed=seed, **self.release)


def read_study(path: str | Path) -> Design:
    """Read a study file; what makes no sense is refused with its line."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise StudyError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError:
        raise StudyError(f"{path.name}: a study is a text file in TOML, and this is none") from None
    return parse_study(text, path.name)


def parse_study(text: str, name: str = "study.toml") -> Design:
    """The text of a study file as a design; `name` is what refusals call it."""
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{name} is no TOML: {error}") from None
    return _Reader(text, name).design(given)


class _Reader:
    def __init__(self, text: str, name: str) -> None:
        self._lines, self._name = text.splitlines(), name
        self._places = _places(self._lines)

    def design(self, given: dict[str, Any]) -> Design:
        self._refuse_unknown("", given, ("title", *FACTORS, "reference", "questions", "release", "budget"))
        values: dict[str, Any] = {name: self._list(name, given[name]) for name in FACTORS if name in given}
        for name in ("title", "reference"):
            if name in given:
                values[name] = self._kind("", name, given[name], str, "text")
        checks: dict[str, Callable[[Any], Any]] = {
            "index": _index,
            "slot": slot_seconds,
            "protect": _recipe,
            "attack": _attack,
            "adversary": lambda text: knowledge.name_of(knowledge.load(text)),
            "utility": _utility,
            "membership": _adversary,
            "seed": _seed,
        }
        for name, check in checks.items():
            if name in values:
                values[name] = tuple(dict.fromkeys(self._check("", name, check, value) for value in values[name]))
        values |= self._questions(given.get("questions", {}))
        if "budget" in given:
            values["budget"] = self._budget(given["budget"])
        if "release" in given:
            values["release"] = self._release(given["release"])
        made = Design(**values)
        made = replace(made, reference=made.reference or made.index[0])
        self._check("", "reference", _index, made.reference)
        if not any((made.attack, made.adversary, made.utility, made.membership, made.schedule)):
            raise StudyError(
                f"{self._name} asks nothing: give attack, adversary, utility, membership or schedule, such as "
                'adversary = ["points:4"]'
            )
        self._check("release", "", lambda _: made.settings(made.index[0], made.slot[0], (), made.seed[0]), None)
        return made

    def _questions(self, given: Any) -> dict[str, Any]:
        kinds = {"basis": str, "sample": int, "pairing": str, "targets": int, "groups": int}
        given = self._table("questions", given, (*kinds, "about", "sizes"))
        values: dict[str, Any] = {}
        for name, kind in kinds.items():
            if name in given:
                word = "text" if kind is str else "a whole number"
                values[name] = self._kind("questions", name, given[name], kind, word)
        for name, known in (("basis", BASES), ("pairing", ("optimal", "greedy", "both"))):
            if name in values and values[name] not in known:
                raise self._error("questions", name, f"{name} is {' or '.join(known)}, not {values[name]!r}")
        if "about" in given:
            values["about"] = tuple(self._list("about", given["about"], table="questions"))
            for about in values["about"]:
                if about not in ABOUT:
                    raise self._error("questions", "about", f"about is {' or '.join(ABOUT)}, not {about!r}", about)
        if "sizes" in given:
            values["sizes"] = tuple(self._list("sizes", given["sizes"], kind=int, table="questions"))
        asked = {name: values[name] for name in ("sizes", "targets", "groups") if name in values}
        self._check("questions", next(iter(asked), ""), lambda _: Question(**asked), None)
        return values

    def _budget(self, given: Any) -> Budget:
        given = self._table("budget", given, ("runs", "minutes"))
        for name, value in given.items():
            whole = name == "runs"
            right = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
            if not right or not 0 < value < float("inf"):
                what = "a whole number" if whole else "a number"
                raise self._error("budget", name, f"{name} is {what} above 0, not {value!r}")
        return Budget(**given)

    def _release(self, given: Any) -> dict[str, Any]:
        known = [each.name for each in fields(Settings) if each.name not in _NOT_IN_FILE]
        values = dict(self._table("release", given, tuple(known)))
        if "start" in values and isinstance(values["start"], dt.date):
            values["start"] = str(values["start"])
        kinds: dict[str, Any] = {"align": bool, "coverage": int | float, "people": int, "days": int, "box": list}
        words = {bool: "true or false", int: "a whole number", list: "a list of four numbers", str: "text"}
        for name, value in values.items():
            kind = kinds.get(name, str)
            if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
                raise self._error("release", name, f"{name} is {words.get(kind, 'a number')}, not {value!r}")
        if "box" in values:
            values["box"] = tuple(values["box"])
        for name in values:
            alone = {name: values[name]} | ({"days": values.get("days")} if name == "align" else {})
            self._check("release", name, partial(_settings, alone), None)
        return values

    def _table(self, name: str, given: Any, known: tuple[str, ...]) -> dict[str, Any]:
        if not isinstance(given, dict):
            raise self._error("", name, f"{name} is a table: write [{name}] above its settings")
        self._refuse_unknown(name, given, known)
        return given

    def _refuse_unknown(self, table: str, given: dict[str, Any], known: tuple[str, ...]) -> None:
        for name in given:
            if name not in known:
                where = f"[{table}] has no" if table else "a study has no"
                raise self._error(table, name, f"{where} key {name!r}; there are: {', '.join(known)}")

    def _list(self, name: str, value: Any, *, kind: type | None = None, table: str = "") -> list[Any]:
        wanted: Any = kind or (int if name == "seed" else str)
        values = value if isinstance(value, list) else [value]
        if not values:
            raise self._error(table, name, f"{name} = [] leaves nothing to study: give at least one value")
        word = "whole numbers" if wanted is int else "texts"
        for one in values:
            if not isinstance(one, wanted) or isinstance(one, bool):
                raise self._error(table, name, f"{name} is a list of {word}, not {one!r}", one)
        return values

    def _kind(self, table: str, name: str, value: Any, kind: type, word: str) -> Any:
        if not isinstance(value, kind) or isinstance(value, bool):
            raise self._error(table, name, f"{name} is {word}, not {value!r}")
        return value

    def _check(self, table: str, name: str, check: Callable[[Any], Any], value: Any) -> Any:
        """What the rest of trajlab says of a value, with the line that it stands in."""
        try:
            return check(value)
        except TrajlabError as error:
            raise self._error(table, name, str(error), value) from error

    def _error(self, table: str, name: str, reason: str, value: Any = None) -> StudyError:
        """The refusal of a key, or of one value of its list."""
        line = self._places.get((table, name)) or self._places.get((table, ""))
        if line is None:
            return StudyError(f"{self._name}: {reason}")
        if value is not None and name:
            line = self._line_of(value, line)
        return StudyError(f"{self._name}, line {line}: {reason}")

    def _line_of(self, value: Any, first: int) -> int:
        """The line of a value in a list that begins at `first`, up to the next key."""
        last = min((place for place in self._places.values() if place > first), default=len(self._lines) + 1)
        text = str(value).lower() if isinstance(value, bool) else str(value)
        found = [n for n in range(first, last) if text in self._lines[n - 1]]
        return found[0] if found else first


def _places(lines: list[str]) -> dict[tuple[str, str], int]:
    """The line of every key of a TOML file by its table, ("", key) above all tables; (table, "") for its heading."""
    table, found = "", {}
    for number, line in enumerate(lines, start=1):
        if heading := re.match(r"\s*\[\s*([\w.-]+)\s*\]", line):
            table = heading[1]
            found[table, ""] = number
            found.setdefault(("", table), number)
        elif key := re.match(r"""\s*["']?([\w-]+)["']?\s*=""", line):
            found.setdefault((table, key[1]), number)
    return found


def _index(text: str) -> str:
    kind = text.partition(":")[0]
    if kind not in spatial.names():
        from trajlab.errors import UnknownNameError

        raise UnknownNameError("spatial index", kind, spatial.names())
    return text


def _recipe(text: str) -> tuple[str, ...]:
    words = text.replace(",", " ").split()
    return tuple(name_of(one) for one in load_recipe([] if words == [NO_RECIPE] else words))


def _attack(name: str) -> str:
    attacks.load(name)
    return name


def _utility(text: str) -> str:
    measure, _, zones = text.partition(":")
    if measure not in ("counts", "flows") or (measure == "counts" and zones):
        raise StudyError(f"utility is counts, flows (between the lab's zones) or such as flows:h3:7, not {text!r}")
    if zones:
        _index(zones)
    return text


def _adversary(text: str) -> str:
    adversary, _, reference = text.partition(":")
    Question(adversary, reference or None)
    return text


def _settings(given: dict[str, Any], _: None) -> Settings:
    return Settings(index="square:500", slot=1800, **given)


def _seed(number: int) -> int:
    if not 0 <= number < 2**63:
        raise StudyError(f"seed is a whole number, 0 or more, not {number}")
    return number
