"""The process in which queries of the playground run: limited in memory and time, and ended at any moment.

It reads one query a line (JSON) and writes, for each, a line that says what came of it and then the rows (Arrow).
Its limits are those of the operating system, since the engine does not count everything that it takes: the address
space where the system heeds that (not on macOS or Windows), processor time, and the wall clock, which
`queries.Queries` watches from outside. Only what is quick to import is imported here.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from trajlab.answer import BEYOND, holds_times_beyond
from trajlab.engine.duckdb import connect, one_line

LOCKED = (
    "set python_enable_replacements = false",
    "set enable_external_access = false",
    "set lock_configuration = true",
)
"""Last of all the lock: nothing that runs afterwards can open what was closed."""
LARGEST = 16_000_000
"""Bytes of an answer that a page shows."""
MEMORY = "more memory is needed than allowed: ask for less, or start trajlab explore with --memory-limit"
_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_BESIDE = 2**29
"""Bytes of address space beside what the engine may hold: what it does not count, and what Python takes."""


def main(settings: Mapping[str, Any]) -> None:
    """Answer queries until nobody asks any more; the end of the one who asks is the end of this process too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who asks
    con = connect(settings["path"], memory_limit=settings["memory_limit"], threads=settings["threads"], read_only=True)
    con.execute("set temp_directory = $folder", {"folder": settings["spill"]})
    held = _memory(con)
    con.execute("set max_temp_directory_size = $size", {"size": f"{4 * held} bytes"})
    ((threads,),) = con.execute("select current_setting('threads')").fetchall()
    for setting in LOCKED:
        con.execute(setting)
    _limit_space(held)
    _write({"ready": True})
    for line in sys.stdin.buffer:
        _limit_processor(settings["seconds"] * threads)
        threading.Thread(target=_answer, args=(con, json.loads(line), settings["rows"]), daemon=True).start()
    os._exit(0)


def _answer(con: duckdb.DuckDBPyConnection, sql: str, rows: int) -> None:
    try:
        table = _table(con, sql, rows)
    except Exception as error:
        _write({"error": _why(error), "spent": isinstance(error, duckdb.OutOfMemoryException | MemoryError)})
        return
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table.slice(0, rows))
    body = sink.getvalue()
    _write({"more": table.num_rows > rows, "bytes": body.size}, body)


def _table(con: duckdb.DuckDBPyConnection, sql: str, rows: int) -> pa.Table:
    statements = con.extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise _RefusedError("the playground only reads, one SELECT at a time: tables change through the lab's verbs")
    table = con.sql(sql).limit(rows + 1).to_arrow_table()
    if table.nbytes > LARGEST:
        raise _RefusedError(f"the answer has more than {LARGEST // 10**6} MB: ask for fewer rows, or shorter text")
    column = holds_times_beyond(table)
    if column is not None:
        raise _RefusedError(BEYOND.format(column))
    return table


class _RefusedError(Exception):
    """A query that is not answered, and why."""


def _why(error: Exception) -> str:
    if isinstance(error, duckdb.PermissionException):
        return "files, extensions and settings are out of reach here: a query sees the tables of the lab alone"
    if isinstance(error, duckdb.OutOfMemoryException | MemoryError):
        return MEMORY
    if isinstance(error, pa.ArrowException):
        return "a column has a type that frames cannot hold: cast it, to text perhaps"
    if "read-only mode" in str(error):
        return "the playground only reads: tables change through the lab's verbs"
    return one_line(error) if isinstance(error, duckdb.Error) else str(error)


def _write(message: Mapping[str, Any], body: Any = b"") -> None:
    out = sys.stdout.buffer
    out.write(json.dumps(message).encode() + b"\n")
    out.write(body)
    out.flush()


def _memory(con: duckdb.DuckDBPyConnection) -> int:
    """Bytes that the engine may hold, from its own spelling: '1.8 GiB'."""
    ((spelled,),) = con.execute("select current_setting('memory_limit')").fetchall()
    number, unit = spelled.split()
    return int(float(number) * _UNITS[unit])


def _limit_space(held: int) -> None:
    """Beyond what is mapped already, where the system says how much that is."""
    try:
        import resource

        mapped = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except (ImportError, OSError):
        return
    most = mapped + held + _BESIDE
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_processor(seconds: float) -> None:
    """For one query: what was used before does not count."""
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    most = int(used.ru_utime + used.ru_stime + seconds) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
