"""Queries in a process of their own, which is ended when one takes too long, and replaced."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa

from trajlab.errors import QueryError
from trajlab.explore.child import MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterator


_NO_TIME_LEFT = getattr(signal, "SIGXCPU", 0)
"""What ends a process whose processor time is up, where there is such a limit."""


class Queries:
    """One query at a time; the next process is warm before it is needed."""

    def __init__(self, path: Path, *, seconds: float, rows: int, memory_limit: str, threads: int | None) -> None:
        self.seconds = seconds
        self._settings = {
            "path": str(path),
            "seconds": seconds,
            "rows": rows,
            "memory_limit": memory_limit,
            "threads": threads,
        }
        self._one_at_a_time = threading.Lock()
        self._closed = self._ready = False
        self._start()

    def run(self, sql: str) -> tuple[pl.DataFrame, bool]:
        """The answer to one SELECT, and whether there is more of it than the limit lets through."""
        with self._one_at_a_time:
            if not self._ready:
                self._ready = "ready" in (self._read() or {})
            late = threading.Event()
            try:
                with self._ended_after(late):
                    message, body = self._send(sql)
            except OSError:
                message, body = None, b""
            if message is None:
                self._replace()
                raise QueryError(self._why_it_ended(late=late.is_set()))
            if message.get("spent"):  # what it took, it may keep
                self._replace()
        if "error" in message:
            raise QueryError(message["error"])
        try:
            frame = pl.DataFrame(pl.from_arrow(pa.ipc.open_stream(body).read_all()))
        except (pl.exceptions.PolarsError, pa.ArrowException) as error:
            raise QueryError("a column has a type that frames cannot hold: cast it, to text perhaps") from error
        return frame, message["more"]

    def close(self) -> None:
        """End whatever runs."""
        self._closed = True
        self._process.kill()
        with self._one_at_a_time:
            self._end()

    def _send(self, sql: str) -> tuple[dict[str, Any] | None, bytes]:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(sql).encode() + b"\n")
        process.stdin.flush()
        message = self._read()
        size = 0 if message is None else message.get("bytes", 0)
        body = process.stdout.read(size)
        return (message if len(body) == size else None), body

    def _read(self) -> dict[str, Any] | None:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        message: dict[str, Any] | None = json.loads(line) if line.endswith(b"\n") else None
        return message

    @contextlib.contextmanager
    def _ended_after(self, late: threading.Event) -> Iterator[None]:
        process = self._process

        def end() -> None:
            late.set()
            process.kill()

        clock = threading.Timer(self.seconds, end)
        clock.daemon = True
        clock.start()
        try:
            yield
        finally:
            clock.cancel()

    def _why_it_ended(self, *, late: bool) -> str:
        if self._closed:
            return "the playground was closed"
        if late or self._code == -_NO_TIME_LEFT:
            return f"stopped after {self.seconds:g} seconds: ask for less, or start trajlab explore with --seconds"
        return MEMORY

    def _start(self) -> None:
        self._spill = tempfile.TemporaryDirectory(prefix="trajlab-", ignore_cleanup_errors=True)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "trajlab.explore.child", json.dumps(self._settings | {"spill": self._spill.name})],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._ready = False

    def _end(self) -> None:
        process = self._process
        process.kill()
        self._code = process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._spill.cleanup()

    def _replace(self) -> None:
        self._end()
        if not self._closed:
            self._start()
