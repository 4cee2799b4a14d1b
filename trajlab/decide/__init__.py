"""May this table be published? A policy asks a fixed set of questions, and each is answered by a number.

A policy is a TOML file of rules (`policy`), a rule is a plug-in with a limit (`rules/`, one file each), and `run`
asks them of a release: pass, fail or review for each rule and for the whole. What an answer needs (an attack, a
risk, a comparison of flows) is made by the lab's own verbs, once, and found there afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from trajlab import plugins

if TYPE_CHECKING:
    import polars as pl

    from trajlab.lab import Lab
    from trajlab.release import Release

TABLE, TRACES = "table", "traces"
"""What a number is about: the published table, or the traces behind it, which would have to leak."""
SINGLING_OUT, LINKABILITY, INFERENCE, UTILITY = "singling out", "linkability", "inference", "utility"
"""What a rule guards against, in the words of Opinion 05/2014 on anonymisation techniques (WP216); or what it keeps."""
SHARE, PEOPLE, EPSILON, NUMBER = "share", "people", "epsilon", "number"
"""What a limit is counted in."""
TRUTH = "it is measured against the people behind the table, and the lab does not have them: the release was made "
TRUTH += "elsewhere"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found: a number, its 95 % interval, and whom it concerns."""

    estimate: float
    subject: str
    """What the number is of, as the beginning of a sentence: "dsilva2024 recovers"."""
    low: float | None = None
    high: float | None = None
    """Both None where the number is counted, not estimated."""
    yardstick: float | None = None
    """What needs no skill, or nobody's data: chance."""
    people: int | None = None
    """How many people it concerns."""
    worst_decile: float | None = None
    """The same number over the tenth of people with the highest."""
    groups: pl.DataFrame | None = None
    """The same number by group: trait, value, people, estimate."""
    note: str = ""
    """What a reader must know besides."""


class Unanswerable(Exception):  # noqa: N818  not an error: the rule goes to review, with this reason
    """A rule that this release cannot answer; it is never taken for a pass."""


class Rule(Protocol):
    """A frozen dataclass whose fields are its settings, each with a default; `RULE` at the end of its file.

    Laws, checked for every rule (tests/laws/test_rules.py): the same release gives the same finding; a
    release made elsewhere is answered or refused by `Unanswerable`, and never passes for want of the truth.
    """

    concern: ClassVar[str]
    about: str
    unit: ClassVar[str]
    limit: ClassVar[str]
    """at_most or at_least."""

    def answer(self, lab: Lab, release: Release, limit: float, seed: int) -> Finding:
        """The number for this release; raise `Unanswerable` where it has none."""
        ...


def names() -> list[str]:
    """Every rule that a policy may have."""
    return plugins.names(f"{__name__}.rules")


def rule(name: str) -> type[Rule]:
    """The class of that rule."""
    found: type[Rule] = plugins.load(f"{__name__}.rules", name, "rule").RULE
    return found
