"""From what the user pointed at to the files to read, in a stable order.

A folder is read recursively. Files that start with `.` or `_` are skipped silently,
files that are not data are named in a note, so that nothing is left out unseen; what cannot
be opened is refused, since nobody knows what is in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from trajlab.errors import IngestError

TABLES = (
    ".csv", ".csv.gz", ".csv.zst", ".tsv", ".tsv.gz", ".tsv.zst", ".txt", ".txt.gz", ".txt.zst", ".parquet", ".pq",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class DataFile:
    path: Path
    name: str
    """How the file is called in notes and in `records.source`: relative, never a machine's path."""


@dataclass(frozen=True, slots=True)
class Part:
    """One source in a table of several."""

    name: str
    fingerprint: str
    rows: int
    notes: list[str]


@dataclass(frozen=True, slots=True)
class Stamp:
    """A file as it was when it was first looked at."""

    file: DataFile
    state: tuple[int, ...]

    @staticmethod
    def of(file: DataFile) -> Stamp:
        return Stamp(file, _state(file))

    @property
    def size(self) -> int:
        return self.state[2]

    def check(self) -> None:
        """Raise if the file is another by now: its rows and its fingerprint would not belong together."""
        if _state(self.file) != self.state:
            raise IngestError(f"{self.file.name}: the file changed while it was being read; try again when it is whole")


def find(
    paths: Iterable[str | os.PathLike[str]], suffixes: tuple[str, ...] = TABLES
) -> tuple[list[DataFile], list[str]]:
    """Every data file, folders expanded in path order; and notes on what was left out."""
    files: list[DataFile] = []
    notes: list[str] = []
    for given in paths:
        if not os.fspath(given):
            raise IngestError("an empty path: name a file or a folder ('.' for the one you are in)")
        path = Path(given)
        try:
            found, others = _files_inside(path, suffixes) if path.is_dir() else _single_file(path)
        except OSError as error:
            raise IngestError(f"{readable(given)!r} cannot be opened: {error.strerror}") from error
        files += found
        if others:
            shown = ", ".join(others[:5]) + (f" and {len(others) - 5} more" if len(others) > 5 else "")
            notes.append(f"not data, left out: {shown}")
    if not files:
        raise IngestError("nothing to ingest: the list of files is empty")
    for file in files:
        if readable(file.path) != str(file.path):
            raise IngestError(f"{readable(file.name)!r}: the name of the file or its folder is not UTF-8; rename it")
    return files, notes


def _single_file(path: Path) -> tuple[list[DataFile], list[str]]:
    if path.is_file():
        return [DataFile(path, path.name)], []
    if path.exists():
        raise IngestError(f"{readable(path.name)!r} is a pipe or a device: write it to a file first")
    raise IngestError(f"there is no file or folder {readable(path)!r}")


def _files_inside(folder: Path, suffixes: tuple[str, ...]) -> tuple[list[DataFile], list[str]]:
    files, others = [], []
    for parent, folders, names in os.walk(folder, onerror=_refuse_locked):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        links = [name for name in folders if Path(parent, name).is_symlink()]
        for name in (name for name in names + links if not name.startswith((".", "_"))):
            path = Path(parent, name)
            relative = path.relative_to(folder).as_posix()
            if path.is_file() and name.lower().endswith(suffixes):
                files.append(DataFile(path, relative))
            else:
                others.append(readable(relative))
    if not files:
        raise IngestError(
            f"folder {readable(folder.name)!r} holds no data: expected files ending in {', '.join(suffixes)}"
        )
    return sorted(files, key=lambda file: file.path), sorted(others)


def _refuse_locked(error: OSError) -> None:
    name = readable(Path(error.filename).name)
    raise IngestError(
        f"folder {name!r} cannot be opened: {error.strerror}; allow it to be read, or name the files to read"
    ) from error


def readable(path: str | os.PathLike[str]) -> str:
    """The path with whatever is not UTF-8 in it replaced."""
    return os.fsencode(path).decode("utf-8", errors="replace")


def literal(path: Path) -> str:
    """The path as the engine must be given it: it reads `*`, `?` and `[` as patterns."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(path))


def _state(file: DataFile) -> tuple[int, ...]:
    try:
        now = file.path.stat()
    except OSError as error:
        raise IngestError(f"{file.name}: cannot be opened: {error.strerror}") from error
    return (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns)
