"""From what the user pointed at to the files to read, in a stable order.

A folder is read recursively. Files that start with `.` or `_` are skipped silently,
files that are not data are named in a note, so that nothing is left out unseen.
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


def find(
    paths: Iterable[str | os.PathLike[str]], suffixes: tuple[str, ...] = TABLES
) -> tuple[list[DataFile], list[str]]:
    """Every data file, folders expanded in path order; and notes on what was left out."""
    files: list[DataFile] = []
    notes: list[str] = []
    for given in paths:
        path = Path(given)
        if path.is_dir():
            inside, others = _inside(path, suffixes)
            if not inside:
                raise IngestError(f"folder {path.name!r} holds no data: expected files ending in {', '.join(suffixes)}")
            files += inside
            if others:
                shown = ", ".join(others[:5]) + (f" and {len(others) - 5} more" if len(others) > 5 else "")
                notes.append(f"not data, left out: {shown}")
        elif path.is_file():
            files.append(DataFile(path, path.name))
        else:
            raise IngestError(f"there is no file or folder {str(given)!r}")
    if not files:
        raise IngestError("nothing to ingest: the list of files is empty")
    return files, notes


def _inside(folder: Path, suffixes: tuple[str, ...]) -> tuple[list[DataFile], list[str]]:
    files, others = [], []
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if any(part.startswith((".", "_")) for part in relative.parts) or not path.is_file():
            continue
        name = relative.as_posix()
        if name.lower().endswith(suffixes):
            files.append(DataFile(path, name))
        else:
            others.append(name)
    return files, others


def literal(path: Path) -> str:
    """The path as the engine must be given it: it reads `*`, `?` and `[` as patterns."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(path))
