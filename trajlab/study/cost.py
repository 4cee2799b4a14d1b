"""What a study will take: a guess before it begins, a better one while it runs.

The guess is made of times per step on one core of an office computer, which grow with records, people and slots. It is
there to tell minutes from hours. Once steps are done, what they took corrects it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trajlab.errors import StudyError
from trajlab.progress import duration

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trajlab.study.file import Budget
    from trajlab.study.plan import Step

_PER_RECORD = {"release": 3e-6, "flows": 3e-6, "schedule": 4e-6}
_PER_POSITION = {
    "release": 1.5e-6,
    "risk": 2.5e-6,
    "flows": 2e-7,
    "counts": 4e-7,
    "membership": 3e-6,
    "recovery": 6e-6,
    "schedule": 2e-6,
}
_PER_PAIR = {"recovery": 1.2e-7}
"""Seconds for each pair of people and slot of a day: an attack matches everybody with everybody."""
_LEAST = {"release": 0.4, "recovery": 0.8, "membership": 1.0}


@dataclass(frozen=True, slots=True)
class Size:
    """What the time of a step depends on."""

    records: int
    people: int
    days: int

    def seconds(self, step: Step) -> float:
        """How long a step takes, roughly."""
        return self.seconds_of(step.result, step.table.slot)

    def seconds_of(self, result: str, slot: float) -> float:
        """How long one such answer takes with slots of so many seconds, roughly."""
        positions = self.people * self.days * 86_400 / slot
        pairs = min(self.people, 20_000) ** 2 * 86_400 / slot
        return (
            _LEAST.get(result, 0.2)
            + _PER_RECORD.get(result, 0.0) * self.records
            + _PER_POSITION[result] * positions
            + _PER_PAIR.get(result, 0.0) * pairs
        )


@dataclass
class Clock:
    """How long the steps that are left will take, by what those that are done took."""

    size: Size
    steps: Iterable[Step]
    _left: float = field(init=False)
    _expected: float = 0.0
    _took: float = 0.0

    def __post_init__(self) -> None:
        self._left = sum(map(self.size.seconds, self.steps))

    @property
    def left(self) -> float:
        """Seconds; the guess as it is until a second of work is done."""
        pace = self._took / self._expected if self._took > 1 else 1.0
        return self._left * pace

    def done(self, step: Step, seconds: float) -> None:
        expected = self.size.seconds(step)
        self._left -= expected
        self._expected += expected
        self._took += seconds


def refuse_beyond(budget: Budget, runs: int, seconds: float) -> None:
    """Refuse a study that is larger than its budget."""
    limits = []
    if budget.runs is not None and runs > budget.runs:
        limits.append(f"{budget.runs:,} runs")
    if budget.minutes is not None and seconds > 60 * budget.minutes:
        limits.append(f"{budget.minutes:g} minutes")
    if limits:
        raise StudyError(
            f"this study takes {runs:,} runs, about {duration(seconds)}, and its budget is {' and '.join(limits)}: "
            "make it smaller, or go on with --yes (yes=True)"
        )
