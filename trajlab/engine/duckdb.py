"""The embedded engine: one DuckDB file, one process, as many threads as allowed."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from trajlab.errors import LabError, QueryError

if TYPE_CHECKING:
    from collections.abc import Iterator


def connect(
    path: str, *, memory_limit: str | None = None, threads: int | None = None, read_only: bool = False
) -> duckdb.DuckDBPyConnection:
    """Open a DuckDB file (or ':memory:'), in UTC, spilling to disk beyond `memory_limit`.

    `memory_limit` is what DuckDB itself may hold ("4GB", "60%"); what Python holds
    beside it comes on top. The default is 60 % of the machine.
    """
    if not path or "\0" in path or path.startswith("md:") or "://" in path:
        raise LabError(f"{path!r} names no lab: give a file such as lab.duckdb, or ':memory:'")
    if threads is not None and not 1 <= threads <= 1024:
        raise LabError(f"threads must be between 1 and 1024, not {threads}")
    offline: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    try:
        con = duckdb.connect(path, read_only=read_only, config=offline)
    except duckdb.Error as error:
        raise LabError(_why_not_opened(path, str(error))) from error
    with said_kindly("setting up the engine"):
        con.execute("set TimeZone = 'UTC'")
        con.execute("set enable_progress_bar = false")
        con.execute("set memory_limit = $limit", {"limit": memory_limit or "60%"})
        if threads is not None:
            con.execute("set threads = $threads", {"threads": threads})
        if path == ":memory:":
            con.execute("set temp_directory = $folder", {"folder": tempfile.gettempdir()})
    return con


def one_line(error: duckdb.Error) -> str:
    """The engine's reason without the drawing of the query that follows it."""
    return " ".join(str(error).partition("\n\nLINE ")[0].split())


@contextmanager
def said_kindly(doing: str) -> Iterator[None]:
    """Turn the engine's own errors into trajlab's, saying what was being done."""
    try:
        yield
    except (duckdb.IOException, duckdb.FatalException, duckdb.OutOfMemoryException) as error:
        raise LabError(_why_it_stopped(doing, str(error))) from error
    except duckdb.ConnectionException as error:
        raise LabError(f"{doing}: the lab is closed; open it again") from error
    except (duckdb.Error, RuntimeError) as error:
        if "interrupt" in str(error).lower():  # the engine's way of passing on Ctrl-C
            raise KeyboardInterrupt from error
        if not isinstance(error, duckdb.Error):
            raise
        if "read-only mode" in str(error):
            raise LabError(f"{doing}: the lab is open for reading only; open it without read_only") from error
        raise QueryError(f"{doing}: {one_line(error)}") from error


def _why_not_opened(path: str, reason: str) -> str:
    name = Path(path).name
    if "lock" in reason:
        return f"{name} is open in another program: close that one first, or work on a copy of the file"
    if "not a valid DuckDB database file" in reason:
        return f"{name} is not a lab: it is some other kind of file; choose another name for the lab"
    if "version" in reason and "storage" in reason:
        return f"{name} was written by a newer DuckDB than the one installed: upgrade duckdb ({_first_line(reason)})"
    if "No such file or directory" in reason or "does not exist" in reason:
        return f"{path}: no such file or folder; make the folder first, or check the name of the lab"
    return f"{name} cannot be opened: {_first_line(reason)}"


def _why_it_stopped(doing: str, reason: str) -> str:
    low = reason.lower()
    if any(sign in low for sign in ("no space left", "file too large", "disk full", "max_temp_directory_size")):
        return f"{doing}: the disk is full; nothing was changed. Free some space (or move the lab) and try again"
    if "out of memory" in low:
        return (
            f"{doing}: more memory is needed than memory_limit allows; nothing was changed. "
            f"Raise memory_limit, or lower threads ({_first_line(reason)})"
        )
    return f"{doing}: {_first_line(reason)}"


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0]
