"""How far long work has come, on stderr: a bar on a terminal, a line now and then anywhere else."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from trajlab.plain import exact, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE = 2.0
"""Seconds of work before anything is said on a terminal."""
SELDOM = 30.0
"""Seconds between two lines where stderr is no terminal; shorter work is silent there."""


@dataclass(slots=True, eq=False)
class _Step:
    label: str
    began: float
    moved: float
    share: float = 0.0
    counted: bool = False
    """`show` was called: what the engine says of its own query means nothing any more."""
    parts: bool = False
    """More than one thing is done in it, so the share of one says nothing about the end."""
    spoken: bool = False


class Progress:
    """Steps of long work, each with its share and, where that can be known, the time that is left.

    A share never falls while a step counts its own work. Time left is told as long as the share moves;
    else the time that has passed. `quiet` silences everything; time comes from `clock`.
    """

    def __init__(
        self, stream: TextIO | None = None, *, quiet: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = exact(stream if stream is not None else sys.stderr)
        self._live = self._stream.isatty()
        self.quiet, self._clock = quiet, clock
        self._steps: list[_Step] = []
        self._lock = threading.RLock()
        self._drawn = self._spoke = self._ended = float("-inf")
        self._working = clock()

    @contextmanager
    def step(self, label: str, poll: Callable[[], float] | None = None, *, watched: bool = True) -> Iterator[None]:
        """Name the step that follows; `poll` gives its percentage where nobody calls `show`.

        Steps can hold steps. One that is `watched` shows life though nobody tells how far it is.
        """
        step = self._begin(label)
        ended = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(step, poll, ended), daemon=True)
        if watched and not self.quiet:
            watcher.start()
        try:
            yield
        finally:
            ended.set()
            if watcher.ident is not None:
                watcher.join()
            self._end(step)

    def label(self, text: str) -> None:
        """Say what the current step is busy with now: it does several things, one after another."""
        with self._lock:
            if self._steps:
                now = self._clock()
                step = self._steps[-1]
                step.label, step.parts, step.share, step.moved = printable(text), True, 0.0, now

    def show(self, done: float, total: float) -> None:
        """Say how much of the current step is done."""
        with self._lock:
            if self._steps:
                step = self._steps[-1]
                before = step.share if step.counted else 0.0
                step.counted = True
                self._tell(step, max(before, min(done / total, 1.0) if total else 0.0))

    def say(self, text: str) -> None:
        """A line of its own, once work takes long: where study and trade-off are."""
        with self._lock:
            now = self._clock()
            self._resume(now)
            if not self.quiet and (now - self._working >= PATIENCE if self._live else self._may_speak(now)):
                self._spoke = now
                self._write(f"{printable(text)}\n")
            self._ended = now

    def tick(self, poll: Callable[[], float] | None) -> None:
        """Look how far the current step is, if nobody tells; `poll` gives a percentage, below 0 if there is none."""
        percent = -1.0 if poll is None else poll()  # outside the lock: the engine may have one of its own
        with self._lock:
            if self._steps:
                step = self._steps[-1]
                share = step.share if step.counted or percent < 0 else min(percent / 100, 1.0)
                step.parts |= share < step.share  # another query began
                self._tell(step, share)

    def _tell(self, step: _Step, share: float) -> None:
        now = self._clock()
        if share != step.share:
            step.share, step.moved = share, now
        if self.quiet or now - step.began < PATIENCE:
            return
        if self._live and now - self._drawn >= 0.2:
            self._drawn = now
            bar = "#" * round(24 * share)
            self._write(f"\r\x1b[K{step.label} [{bar:<24}] {share:4.0%}, {_when(step, now)}")
        elif not self._live and self._may_speak(now):
            self._spoke, step.spoken = now, True
            self._write(f"{step.label}: {share:.0%}, {_when(step, now)}\n")

    def _may_speak(self, now: float) -> bool:
        return now - max(self._working, self._spoke) >= SELDOM

    def _resume(self, now: float) -> None:
        """Work that goes on right after other work is one; after a pause it begins anew."""
        if not self._steps and now - self._ended > PATIENCE:
            self._working = now

    def _begin(self, label: str) -> _Step:
        with self._lock:
            now = self._clock()
            self._resume(now)
            self._steps.append(_Step(printable(label), now, now))
            return self._steps[-1]

    def _end(self, step: _Step) -> None:
        with self._lock:
            self._ended = self._clock()
            self._steps.remove(step)
            if self._live and self._drawn >= step.began:
                self._write("\r\x1b[K")
            elif step.spoken:
                self._write(f"{step.label}: done in {duration(self._ended - step.began)}\n")

    def _watch(self, step: _Step, poll: Callable[[], float] | None, ended: threading.Event) -> None:
        pause = PATIENCE
        while not ended.wait(pause):
            pause = 0.25
            if self._steps and self._steps[-1] is step:
                self.tick(poll)

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class Steps:
    """Which release, attack or risk of a longer study is under way."""

    def __init__(self, total: int, progress: Progress) -> None:
        self._total, self._done, self._progress = total, 0, progress

    def next(self, label: str) -> None:
        self._done += 1
        self._progress.say(f"{self._done} of {self._total}: {label}")


def _when(step: _Step, now: float) -> str:
    """How long it will take, if the share is worth an estimate; else how long it took so far."""
    elapsed = now - step.began
    stuck = now - step.moved > max(10.0, elapsed / 4)
    if step.share < 0.01 or step.parts or stuck:
        return f"{duration(elapsed)} so far"
    return f"about {duration(elapsed * (1 - step.share) / step.share)} left"


def duration(seconds: float) -> str:
    """A time in words that fit its length."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
