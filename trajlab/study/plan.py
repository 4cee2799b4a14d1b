"""The steps of a study: a product of settings in, each release, attack and question once.

The risk of traces does not depend on what is done to counts, nor a release without noise or sample on the seed: what
several cells of the product need is one step. `Plan.unshared` is what they would take by themselves.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from trajlab.protect import SETTINGS, load, name_of

if TYPE_CHECKING:
    from trajlab.study.file import Design


@dataclass(frozen=True, slots=True)
class Table:
    """One release of a study."""

    index: str
    slot: int
    recipe: tuple[str, ...]
    seed: int

    def __str__(self) -> str:
        return ", ".join([self.index, f"{self.slot / 60:g} min", *self.recipe])


@dataclass(frozen=True, slots=True)
class Step:
    """Something done once: `result` says what, on which release, asked how, and after which other steps."""

    result: str
    table: Table
    question: str = ""
    seed: int = 0
    of: Step | None = None
    """The run whose tracks are searched, the release that flows are compared with, or the one underneath."""

    @property
    def needs(self) -> tuple[Step, ...]:
        """Steps that come first, directly."""
        own = () if self.result == "release" else (Step("release", self.table),)
        return (*own, *(() if self.of is None else (self.of,)))

    def __str__(self) -> str:
        if self.result == "release":
            return f"release with {self.table}"
        on = f" on tracks of {self.of.question}" if self.of is not None and self.of.result == "recovery" else ""
        return f"{self.question or self.result}{on} on {self.table}"


@dataclass(frozen=True, slots=True)
class Answer:
    """A cell of the product: the answer of a step, as it stands for one release."""

    table: Table
    seed: int
    step: Step


@dataclass(frozen=True)
class Plan:
    """Every step once, in an order in which each comes after what it needs, and what each stands for."""

    steps: list[Step] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)

    @cached_property
    def tables(self) -> list[Table]:
        return [step.table for step in self.steps if step.result == "release"]

    @cached_property
    def unshared(self) -> int:
        """Steps if every answer were found by itself."""
        return sum(_length(answer.step) for answer in self.answers)


def make_plan(design: Design) -> Plan:
    """All answers that a study asks for, and the steps that they take."""
    answers = []
    for seed, index, slot, recipe in itertools.product(design.seed, design.index, design.slot, design.protect):
        table = _table(design, index, slot, recipe, seed)
        answers += [Answer(table, seed, step) for step in _questions(design, table, seed)]
    steps = dict.fromkeys(step for answer in answers for step in _with_needs(answer.step))
    order = {"release": 0, "recovery": 2}
    return Plan(sorted(steps, key=lambda step: order.get(step.result, 3 if step.of is not None else 1)), answers)


def _questions(design: Design, table: Table, seed: int) -> list[Step]:
    """What is asked of one release."""
    underneath = unprotected(table)
    release = Step("release", underneath) if underneath != table else None
    runs = [Step("recovery", table, attack, seed, release) for attack in design.attack]
    asked = list(runs)
    if "traces" in design.about or not runs:
        asked += [Step("risk", underneath, known, seed) for known in design.adversary]
    if "table" in design.about:
        asked += [Step("risk", table, known, seed, run) for run in runs for known in design.adversary]
    asked += [Step("schedule", underneath, timetable, seed) for timetable in design.schedule]
    asked += [Step("membership", underneath, adversary, seed) for adversary in design.membership]
    for measure in design.utility:
        before = Step("release", Table(design.reference, underneath.slot, (), underneath.seed))
        asked.append(Step(measure.partition(":")[0], table, measure, 0, release if measure == "counts" else before))
    return asked


def _table(design: Design, index: str, slot: int, recipe: tuple[str, ...], seed: int) -> Table:
    """The release of these settings; a seed that changes nothing of it is the first."""
    by_chance = "people" in design.release or any(text.startswith("noise:") for text in recipe)
    return Table(index, slot, recipe, seed if by_chance else design.seed[0])


def unprotected(table: Table) -> Table:
    """The release underneath: what makes cells and slots larger stays, what protects counts goes."""
    kept = tuple(text for text in table.recipe if load(text).protects == SETTINGS)
    return Table(table.index, table.slot, kept, table.seed)


def of_counts(table: Table) -> tuple[str, ...]:
    """What is done to the counts of the release underneath."""
    return tuple(name_of(one) for one in map(load, table.recipe) if one.protects != SETTINGS)


def _with_needs(step: Step) -> list[Step]:
    return [*(each for need in step.needs for each in _with_needs(need)), step]


def _length(step: Step) -> int:
    return len(dict.fromkeys(_with_needs(step)))
