"""What an attack tells while it works: how far it is, and the proof of each of its steps."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field


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


@dataclass(slots=True)
class Watch:
    """Collects steps; `show(done, total)` is told how many of them are done. Safe between threads."""

    show: Callable[[float, float], None] | None = None
    total: int = 0
    steps: list[Step] = field(default_factory=list)
    _stopped: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def expect(self, steps: int) -> None:
        self.total += steps

    def stop(self) -> None:
        """Make whoever tells of a step next give up."""
        self._stopped = True

    def done(self, step: Step) -> None:
        if self._stopped:
            raise InterruptedError("the attack was stopped")
        with self._lock:
            self.steps.append(step)
        if self.show is not None:
            self.show(len(self.steps), max(self.total, len(self.steps)))
