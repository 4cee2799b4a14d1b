"""The embedded engine: one DuckDB file, one process, as many threads as allowed."""

from __future__ import annotations

import os
import re
import signal
import tempfile
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from trajlab.errors import LabError, QueryError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl
    import pyarrow as pa

    from trajlab.engine import Params


CATALOG = "lab"
"""What the engine calls every lab, whatever the name of its file: that could be the name of one of its schemas."""
_CHANGE = re.compile(r"(\s*(?:insert into|delete from|update) )([\w.]+)")
_EMPTY = 12_288
"""Bytes of a DuckDB file that holds nothing: three headers."""


class DuckDB:
    """A lab file, or memory, behind the `Engine` Protocol; `con` is for reading files and for readers' own SELECTs."""

    def __init__(
        self, path: str, *, memory_limit: str | None = None, threads: int | None = None, read_only: bool = False
    ) -> None:
        self.path = path
        self.con = connect(path, memory_limit=memory_limit, threads=threads, read_only=read_only)
        self.kept_in: dict[str, str] = {}
        """Views to which rows can be added, and the table that takes them."""

    def execute(self, sql: str, params: Params = None) -> None:
        self.con.execute(self._to_table(sql), params)

    def _to_table(self, sql: str) -> str:
        """A change of such a view as one of its table."""
        found = _CHANGE.match(sql) if self.kept_in else None
        if found is None or found[2] not in self.kept_in:
            return sql
        return found[1] + self.kept_in[found[2]] + sql[found.end() :]

    def rows(self, sql: str, params: Params = None) -> list[tuple[Any, ...]]:
        return self.con.execute(sql, params).fetchall()

    def frame(self, sql: str, params: Params = None) -> pl.DataFrame:
        frame: pl.DataFrame = _relation(self.con, sql, params).pl()
        return frame

    def batches(self, sql: str, params: Params = None) -> pa.RecordBatchReader:
        return _relation(self.con, sql, params).to_arrow_reader()

    @contextmanager
    def blocks(self, sql: str, params: Params = None, *, rows: int) -> Iterator[pa.RecordBatchReader]:
        with _second_connection(self.con) as cursor:
            yield _relation(cursor, sql, params).to_arrow_reader(rows)

    def insert(self, table: str, frame: pl.DataFrame) -> None:
        # Not under a name: until the transaction ends, the engine keeps whatever had one.
        self.con.from_arrow(frame.to_arrow()).insert_into(self.kept_in.get(table, table))

    @contextmanager
    def frames(self, **frames: pl.DataFrame | pa.RecordBatchReader) -> Iterator[None]:
        for name, frame in frames.items():
            self.con.register(name, frame.to_arrow() if hasattr(frame, "to_arrow") else frame)
        try:
            yield
        finally:
            for name in frames:
                with suppress(duckdb.Error):  # a transaction that has failed refuses this too
                    self.con.unregister(name)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.con.execute("begin")
        try:
            yield
            with _uninterrupted():
                self.con.execute("commit")
        except BaseException:
            self.rollback()
            raise

    def copy_relations(self, file: str, *, rows_of: str) -> bool:
        ((here,),) = self.rows("select current_database()")
        place = file.replace("'", "''")
        try:
            self.execute(f"attach '{place}' as blank (type duckdb, read_only)")
            try:
                with self.transaction():
                    self.execute(f"copy from database blank to {here} (schema)")
                    self.execute(f"insert into {rows_of} select * from blank.{rows_of}")  # noqa: S608
            finally:
                self.execute("detach blank")
        except duckdb.Error:
            return False
        return True

    def rollback(self) -> None:
        with suppress(duckdb.Error):  # the engine rolled back by itself, or the connection is gone
            self.con.execute("rollback")

    def percent_done(self) -> float:
        return float(self.con.query_progress())

    def close(self) -> None:
        self.con.close()


def _relation(con: duckdb.DuckDBPyConnection, sql: str, params: Params) -> duckdb.DuckDBPyRelation:
    return con.sql(sql, params=dict(params)) if params else con.sql(sql)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C must not fall into the moment in which a transaction becomes final."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def connect(
    path: str, *, memory_limit: str | None = None, threads: int | None = None, read_only: bool = False
) -> duckdb.DuckDBPyConnection:
    """Open a DuckDB file (or ':memory:'), in UTC, spilling to disk beyond `memory_limit`.

    `memory_limit` is what DuckDB itself may hold ("4GB", "60%"); what Python holds
    beside it comes on top. The default is 60 % of the machine. Opening a file again in
    the same process gives another connection to it.
    """
    if not path or "\0" in path or path.startswith("md:") or "://" in path:
        raise LabError(f"{path!r} names no lab: give a file such as lab.duckdb, or ':memory:'")
    if threads is not None and not 1 <= threads <= 1024:
        raise LabError(f"threads must be between 1 and 1024, not {threads}")
    offline: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    no_file = path == ":memory:"
    there = no_file or Path(path).exists()
    con = duckdb.connect(path if no_file else f":memory:{os.path.realpath(path)}", config=offline)
    try:
        with translate_errors("setting up the engine"):
            con.execute("set TimeZone = 'UTC'")
            con.execute("set enable_progress_bar = true")  # counts, for con.query_progress
            con.execute("set enable_progress_bar_print = false")
            con.execute("set temp_directory = $folder", {"folder": tempfile.gettempdir() if no_file else f"{path}.tmp"})
            _limit_memory(con, memory_limit or "60%")
            if threads is not None:
                con.execute("set threads = $threads", {"threads": threads})
            if not no_file:
                _attach(con, path, read_only=read_only)
    except BaseException:
        if not there:
            _remove_if_empty(con, Path(path))
        con.close()
        raise
    return con


def _limit_memory(con: duckdb.DuckDBPyConnection, limit: str) -> None:
    try:
        con.execute("set memory_limit = $limit", {"limit": limit})
    except (duckdb.ParserException, duckdb.InvalidInputException, duckdb.ConversionException):
        raise LabError(f"memory_limit is an amount such as 4GB, 500MB or 60%, not {limit!r}") from None


def remove_new_file(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Remove a file that this connection made and holds, and close it.

    In this order: once the file is closed, somebody else may have taken it up.
    """
    with suppress(duckdb.Error, RuntimeError):
        con.execute("force checkpoint")  # so that closing writes nothing beside the file
    for file in (path.with_name(f"{path.name}.wal"), path):
        with suppress(OSError):
            file.unlink()
    con.close()
    if os.name == "nt":  # where nobody can remove an open file, neither we above nor anybody else's now
        with suppress(OSError):
            path.unlink()


def _second_connection(con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """A second connection to the same lab, for reading beside the first."""
    cursor = con.cursor()
    ((catalog,),) = con.execute("select current_database()").fetchall()
    cursor.execute(f"use {catalog}")
    for name, value in con.execute(_FILES_OF_TABLES).fetchall():
        listed = ", ".join("'" + file.replace("'", "''") + "'" for file in value)  # files of a cluster lab
        cursor.execute(f"set variable {name} = [{listed}]")
    return cursor


_FILES_OF_TABLES = "select name, value::varchar[] from duckdb_variables() where starts_with(name, 'files_of_')"


def _attach(con: duckdb.DuckDBPyConnection, path: str, *, read_only: bool) -> None:
    file = str(Path(path).absolute()).replace("'", "''")
    try:
        con.execute(f"attach if not exists '{file}' as {CATALOG} (type duckdb{', read_only' if read_only else ''})")
    except duckdb.Error as error:
        raise LabError(_why_not_opened(path, str(error))) from error
    con.execute(f"use {CATALOG}")
    if not _is_held(path):
        raise LabError(f"{Path(path).name} was removed by another program while it was being opened: try again")


def _is_held(path: str) -> bool:
    """Whether the file of that name is one that this process has open, and not one that came after it."""
    numbers = Path("/dev/fd")
    if not numbers.is_dir():  # a system where an open file cannot be removed
        return True
    with suppress(FileNotFoundError):
        file = Path(path).stat()
        for number in numbers.iterdir():
            with suppress(OSError):
                if os.path.samestat(os.fstat(int(number.name)), file):
                    return True
    return False


def _remove_if_empty(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Remove what an opening that failed left behind, where it is held and holds nothing."""
    with suppress(duckdb.Error, RuntimeError):
        if con.execute("select 1 from duckdb_databases() where database_name = $it", {"it": CATALOG}).fetchall():
            if not con.execute("select 1 from duckdb_tables() where not internal limit 1").fetchall():
                remove_new_file(con, path)
            return
    try:
        import fcntl
    except ImportError:
        return
    with suppress(OSError), path.open("r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(file.fileno()).st_size <= _EMPTY:
            path.unlink()


def one_line(error: duckdb.Error) -> str:
    """The engine's reason without the drawing of the query that follows it."""
    return " ".join(str(error).partition("\n\nLINE ")[0].split())


@contextmanager
def translate_errors(doing: str) -> Iterator[None]:
    """Turn the engine's own errors into trajlab's, saying what was being done."""
    try:
        yield
    except duckdb.ConnectionException as error:
        raise LabError(f"{doing}: the lab is closed; open it again") from error
    except (duckdb.Error, RuntimeError) as error:
        if "interrupt" in str(error).lower():  # the engine's way of passing on Ctrl-C
            raise KeyboardInterrupt from error
        if not isinstance(error, duckdb.Error):
            raise
        raise _kind(doing, error) from error


def _kind(doing: str, error: duckdb.Error) -> LabError | QueryError:
    low = str(error).lower()
    stopped = isinstance(error, duckdb.IOException | duckdb.FatalException | duckdb.OutOfMemoryException)
    if (stopped or "commit" in low) and any(sign in low for sign in _FULL):
        return LabError(
            f"{doing}: the disk is full; nothing was changed. Free some space (or move the lab) and try again"
        )
    if isinstance(error, duckdb.OutOfMemoryException):
        return LabError(
            f"{doing}: more memory is needed than memory_limit allows; nothing was changed. "
            f"Raise memory_limit, or lower threads ({_first_line(str(error))})"
        )
    if any(sign in low for sign in _DAMAGED[: None if stopped else 1]):
        return LabError(f"{doing}: the lab's file is damaged: {_RESTORE}")
    if found := _NO_TABLE.search(str(error)):
        return LabError(
            f"{doing}: {found[1]} is a large table of a cluster lab: open the folder with engine='spark' to write it"
        )
    if "read-only mode" in low:
        return LabError(f"{doing}: the lab is open for reading only; open it without read_only")
    return LabError(f"{doing}: {_first_line(str(error))}") if stopped else QueryError(f"{doing}: {one_line(error)}")


_FULL = ("no space left", "file too large", "disk full", "quota exceeded", "max_temp_directory_size")
_DAMAGED = ("corrupt database file", "could not read enough bytes", "failed to load metadata", "deserialize")
_IN_USE = ("could not set lock", "conflicting lock", "used by another process", "unique file handle conflict")
_NO_TABLE = re.compile(r"Catalog Error: (\w+) is not an table")
_RESTORE = "restore it from a copy, or make it again from its records"
"""Signs of a trouble in the engine's words, and what helps where a file is damaged."""


def _why_not_opened(path: str, reason: str) -> str:
    name, low = Path(path).name, reason.lower()
    if any(sign in low for sign in _IN_USE):
        return f"{name} is open in another program: close that one first, or work on a copy of the file"
    if "cannot re-attach" in low:
        return f"{name} is open in this program already, for writing or for reading alone: close that one first"
    if any(sign in low for sign in _FULL):
        return f"{name} cannot be opened: the disk is full. Free some space and try again"
    if "not a valid duckdb database file" in low:
        kind = "some other kind of file" if Path(path).stat().st_size else "an empty file"
        return f"{name} is not a lab: it is {kind}; choose another name for the lab"
    if "is a directory" in low:
        return f"{name} is a folder: a lab is a file, such as {name}/lab.duckdb"
    if "not a directory" in low:
        folder = next((parent for parent in Path(path).absolute().parents if parent.is_file()), Path(path).parent)
        return f"{name} cannot be opened: {folder.name} is a file, not a folder; choose a folder for the lab"
    if "version" in low and "storage" in low:
        return f"{name} was written by a newer DuckDB than the one installed: upgrade duckdb ({_first_line(reason)})"
    if any(sign in low for sign in _DAMAGED):
        return f"{name} is damaged: {_RESTORE}"
    if "no such file or directory" in low or "does not exist" in low:
        return f"{path}: no such file or folder; make the folder first, or check the name of the lab"
    return f"{name} cannot be opened: {_first_line(reason)}"


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0]


ENGINE = DuckDB
