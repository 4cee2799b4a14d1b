"""How far long work has come, on a terminal and nowhere else."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from trajlab.plain import exact, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Progress:
    """One line on stderr, rewritten in place, for steps that take longer than two seconds.

    Silent when stderr is not a terminal, so that logs and pipes stay clean.
    """

    def __init__(self, stream: TextIO | None = None, *, patience: float = 2.0) -> None:
        self._stream = exact(stream if stream is not None else sys.stderr)
        self._live = self._stream.isatty()
        self._patience = patience
        self._label = ""
        self._began = 0.0
        self._shown = 0.0

    @contextmanager
    def step(self, label: str, poll: Callable[[], float] | None = None) -> Iterator[None]:
        """Name the step that follows; `poll` gives its percentage where nobody calls `show`."""
        self._label, self._began, self._shown = label, time.monotonic(), 0.0
        ended = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(poll, ended), daemon=True)
        if self._live and poll is not None:
            watcher.start()
        try:
            yield
        finally:
            ended.set()
            if watcher.ident is not None:
                watcher.join()
            if self._shown:
                self._stream.write("\r\x1b[K")
                self._stream.flush()
            self._label = ""

    def label(self, text: str) -> None:
        """Say what the current step is busy with now."""
        self._label = text

    def show(self, done: float, total: float) -> None:
        """Say how much of the current step is done, at most five times a second."""
        now = time.monotonic()
        elapsed = now - self._began
        if not self._live or elapsed < self._patience or now - self._shown < 0.2:
            return
        self._shown = now
        share = min(done / total, 1.0) if total else 0.0
        left = f", about {elapsed * (1 - share) / share:.0f} s left" if share else ""
        bar = "#" * round(24 * share)
        self._stream.write(f"\r\x1b[K{printable(self._label)} [{bar:<24}] {share:4.0%}{left}")
        self._stream.flush()

    def _watch(self, poll: Callable[[], float], ended: threading.Event) -> None:
        while not ended.wait(0.25):
            self.show(max(poll(), 0.0), 100.0)


class Steps:
    """Which release or attack of a study is under way: a line each on a terminal, after two seconds."""

    def __init__(self, total: int) -> None:
        self._total, self._done, self._began = total, 0, time.monotonic()

    def next(self, told: str) -> None:
        self._done += 1
        if sys.stderr.isatty() and time.monotonic() - self._began > 2:
            print(f"{self._done} of {self._total}: {printable(told)}", file=sys.stderr)
