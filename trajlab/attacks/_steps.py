"""What an attack tells beside its tracks: how far it is, the proof of each of its steps, and how sure it is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Step:
    """One matching: its cost, and the bound below which no matching costs."""

    slot: int
    stage: str
    sources: int
    sinks: int
    cost: float
    bound: float
    rounds: int


def link_cost(people: int, slots_per_day: int) -> float:
    """About how many steps from slot to slot take as long as one link between days.

    Measured on simulated cities, in processor time: 40 for 500 people and 56 for 2,000 at 30
    minutes, 200 for 6,000; 300 for 2,000 at 10 minutes. How many days are looked back matters little.
    """
    return max(1.0, people * slots_per_day / 1500)


@dataclass(slots=True)
class StepLog:
    """Steps as they are done. Safe between threads.

    `show(done, total)` is called with how much is done, in steps from slot to slot. Whoever stores
    `steps` may empty the list: what is done stays done. An attack that knows how sure it is of each position of
    its tracks leaves that in `confidence`, tracks × slots, from 0 to 1.
    """

    show: Callable[[float, float], None] | None = None
    total: int = 0
    steps: list[Step] = field(default_factory=list)
    confidence: npt.NDArray[np.float32] | None = None
    _expected: float = 0.0
    _done: float = 0.0
    _link: float = 1.0
    _stopped: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def expect(self, steps: int, *, links: int = 0, link: float = 1.0) -> None:
        """Say how many steps there will be; `links` of them join days, each as costly as `link` others."""
        self.total += steps
        self._expected += steps - links + links * link
        self._link = link

    def stop(self) -> None:
        """Make whoever adds a step next give up."""
        self._stopped = True

    def add(self, step: Step) -> None:
        if self._stopped:
            raise InterruptedError("the attack was stopped")
        with self._lock:
            self.steps.append(step)
            self._done += self._link if step.stage == "link" else 1.0
            done, total = self._done, max(self._expected, self._done)
        if self.show is not None:
            self.show(done, total)
