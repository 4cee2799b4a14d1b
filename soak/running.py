"""A command in a process of its own, which can be killed, or kept from writing more than so many bytes."""

from __future__ import annotations

import os
import resource
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 120
"""Seconds after which a command has hung."""


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    said: str
    seconds: float

    @property
    def killed(self) -> bool:
        """Whether it ended by a signal, or said that it was interrupted."""
        return self.code < 0 or self.code == 130

    @property
    def ill_said(self) -> str | None:
        """What is wrong with how a failure was told: it is one line, and no traceback."""
        if "Traceback" in self.said:
            return f"a traceback: {self.said.strip().splitlines()[-1]}"
        lines = [line for line in self.said.splitlines() if line.startswith("trajlab: ")]
        return None if len(lines) == 1 else f"{len(lines)} lines of message: {self.said!r}"


def run(
    words: str,
    folder: Path,
    *,
    signal_: signal.Signals | None = None,
    after: float = 0.0,
    largest_file: int | None = None,
) -> Ran:
    """Run `trajlab WORDS` in a folder; with a signal after so many seconds, if it has not ended by then."""
    scratch = folder.parent / f"{folder.name}.tmp"
    scratch.mkdir(exist_ok=True)

    def limit() -> None:
        if largest_file is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

    began = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-m", "trajlab", *shlex.split(words)],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env={**os.environ, "TMPDIR": str(scratch), "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=limit,
    ) as process:
        try:
            if signal_ is not None:
                _, said = process.communicate(timeout=after)
            else:
                _, said = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.send_signal(signal_ or signal.SIGKILL)
            _, said = process.communicate(timeout=PATIENCE)
    return Ran(process.returncode, said, time.monotonic() - began)
