"""Policies: which rules a table must keep, as a TOML file with where each limit comes from.

    name = "flowkit"
    source = "https://..."

    [[rule]]
    rule = "contributors"
    at_least = 16

`Policy.load("flowkit")` reads a preset of that name, `Policy.load("own.toml")` a file. A mistake is refused
with its line.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from trajlab import decide
from trajlab.errors import PolicyError, TrajlabError

WORDS = ("name", "title", "source", "says", "checked")
"""What a policy says of itself; only its name is needed."""
LIMITS = ("at_most", "at_least")
_BELONG = (*LIMITS, "rule", "why", "exception")


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """A rule with the limit that a policy sets, and its settings."""

    name: str
    rule: decide.Rule
    limit: float
    why: str = ""
    exception: str = ""
    """The written reason for which the whole may pass although this rule does not."""

    @property
    def settings(self) -> str:
        """Every setting, as JSON sorted by name."""
        return json.dumps(dataclasses.asdict(self.rule), sort_keys=True)  # type: ignore[call-overload]

    def __str__(self) -> str:
        chosen = [
            f"{field.name}={getattr(self.rule, field.name)}"
            for field in dataclasses.fields(self.rule)  # type: ignore[arg-type]
            if getattr(self.rule, field.name) != field.default
        ]
        return " ".join([self.name, *chosen])


@dataclass(frozen=True, slots=True)
class Policy:
    """What must hold before a table is published."""

    name: str
    rules: tuple[PolicyRule, ...]
    text: str
    """The file, as it was read: what `hash` is taken of."""
    title: str = ""
    source: str = ""
    says: str = ""
    checked: str = ""

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @classmethod
    def load(cls, given: str | Path | Policy) -> Policy:
        """A preset by its name, or a file."""
        if isinstance(given, Policy):
            return given
        if isinstance(given, str) and given in presets():
            return cls.parse((_folder() / f"{given}.toml").read_text(encoding="utf-8"), f"preset {given}")
        path = Path(given)
        if not path.is_file():
            there = ", ".join(presets())
            raise PolicyError(f"no policy {str(given)!r}: it is neither a file nor one of the presets {there}")
        try:
            return cls.parse(path.read_text(encoding="utf-8"), str(path))
        except UnicodeDecodeError as error:
            raise PolicyError(f"{path}: a policy is text in UTF-8, and byte {error.start} is not") from error

    @classmethod
    def parse(cls, text: str, where: str = "policy") -> Policy:
        """The policy that the text of a TOML file holds; `where` names it in messages."""
        text = text.replace("\r\n", "\n")
        try:
            given = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise PolicyError(f"{where}: this is not TOML: {error}") from error
        lines = _Lines(text, where)
        for word in given:
            if word not in (*WORDS, "rule"):
                known = ", ".join((*WORDS, "[[rule]]"))
                raise lines.error(f"{word!r} is nothing that a policy says; it says {known}", word)
        for word in WORDS:
            if not isinstance(given.get(word, ""), str):
                raise lines.error(f"{word} must be a text in quotation marks", word)
        if not given.get("name"):
            raise PolicyError(f'{where}: a policy needs a name, such as name = "our-office"')
        rules = given.get("rule", [])
        if not isinstance(rules, list) or not rules or not all(isinstance(rule, dict) for rule in rules):
            raise PolicyError(f"{where}: a policy needs rules: begin each with [[rule]] on a line of its own")
        read = tuple(_rule(rule, lines, number) for number, rule in enumerate(rules))
        return cls(rules=read, text=text, **{word: given.get(word, "") for word in WORDS})

    def excepting(self, reasons: Mapping[str, str]) -> Policy:
        """The same with exceptions, by the name of a rule or by its number, each with its written reason."""
        rules = list(self.rules)
        for which, reason in reasons.items():
            if not reason.strip():
                raise PolicyError(f"the exception from {which} needs a reason in words: it stays in the record")
            found = [n for n, rule in enumerate(rules) if which in (rule.name, str(n + 1))]
            if not found:
                there = ", ".join(f"{n} {rule.name}" for n, rule in enumerate(rules, 1))
                raise PolicyError(f"policy {self.name} has no rule {which!r} to make an exception from; it has {there}")
            for n in found:
                rules[n] = dataclasses.replace(rules[n], exception=reason.strip())
        return dataclasses.replace(self, rules=tuple(rules))


def presets() -> list[str]:
    """Names of the policies that come with trajlab."""
    return sorted(file.name.removesuffix(".toml") for file in _folder().iterdir() if file.name.endswith(".toml"))


def _folder() -> Any:
    return resources.files("trajlab.decide") / "presets"


class _Lines:
    """Where in the file a word stands, for messages."""

    def __init__(self, text: str, where: str) -> None:
        self._lines, self._where = text.split("\n"), where
        self._heads = [n for n, line in enumerate(self._lines) if re.match(r"\s*\[\[\s*rule\s*\]\]", line)]

    def error(self, reason: str, word: str = "", rule: int | None = None) -> PolicyError:
        """The mistake with its line: that of the word, or of the rule."""
        first, last = 0, len(self._lines)
        if rule is not None and rule < len(self._heads):
            first, last = self._heads[rule], (*self._heads[rule + 1 :], last)[0]
        elif self._heads:
            last = self._heads[0]
        pattern = rf"\s*[\"']?{re.escape(word)}[\"']?\s*="
        found = [n for n in range(first, last) if word and re.match(pattern, self._lines[n])]
        return PolicyError(f"{self._where}, line {(found or [first])[0] + 1}: {reason}")


def _rule(given: dict[str, Any], lines: _Lines, number: int) -> PolicyRule:
    name = given.get("rule")
    if not isinstance(name, str):
        raise lines.error('a rule begins with its name, such as rule = "contributors"', "rule", number)
    try:
        kind = decide.rule(name)
    except TrajlabError as error:
        raise lines.error(str(error), "rule", number) from error
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for word, value in given.items():
        if word in ("why", "exception") and not (isinstance(value, str) and value.strip()):
            raise lines.error(f"{word} must be a text in quotation marks", word, number)
        if word in LIMITS and word != kind.limit:
            raise lines.error(f"the limit of {name} is {kind.limit}, not {word}", word, number)
        if word not in _BELONG and word not in fields:
            takes = ", ".join([kind.limit, *fields])
            raise lines.error(f"{name} has no setting {word!r}; it takes {takes}", word, number)
        if word in fields and not _fits(value, fields[word].default):
            wanted = _wanted(fields[word].default)
            raise lines.error(f"{word} of {name} must be {wanted}, not {_written(value)}", word, number)
    limit = given.get(kind.limit)
    if limit is None:
        raise lines.error(f"{name} needs a limit: {kind.limit} = a number", "rule", number)
    if not _fits(limit, 0.0) or limit < 0:
        raise lines.error(f"{kind.limit} must be a number, 0 or more, not {_written(limit)}", kind.limit, number)
    if kind.unit == decide.SHARE and kind.concern != decide.UTILITY and limit > 1:
        raise lines.error(f"{kind.limit} of {name} is a share from 0 to 1, not {limit:g}", kind.limit, number)
    try:
        rule = kind(**{word: given[word] for word in fields if word in given})
    except TrajlabError as error:
        raise lines.error(str(error), "rule", number) from error
    return PolicyRule(name, rule, float(limit), given.get("why", ""), given.get("exception", ""))


def _fits(value: object, default: object) -> bool:
    """Whether a value is of the kind of the default: whole numbers are numbers too, true and false are none."""
    if isinstance(default, float):
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return type(value) is type(default)


def _wanted(default: object) -> str:
    kinds = {bool: "true or false", int: "a whole number", float: "a number", str: "a text in quotation marks"}
    return kinds[type(default)]


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)
