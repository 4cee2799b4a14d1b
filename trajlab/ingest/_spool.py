"""Thousands of small CSV files are read as one: a statement of the engine costs more than such a file.

Files of one layout are written after each other into a temporary file, without their column
names. How many rows each has was counted on the way, so every row is known by its file and its
number there. Each file is read from the disk once, whole.
"""

from __future__ import annotations

import itertools
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from trajlab.ingest import _csvfile as csvfile
from trajlab.ingest._csvfile import Head
from trajlab.ingest._files import DataFile
from trajlab.ingest._quoting import Look, Mender, look_through

FULL = 1 << 26


@dataclass(frozen=True, slots=True)
class Part:
    """One source in a table of several."""

    name: str
    fingerprint: str
    rows: int
    notes: list[str]


@dataclass(slots=True)
class Spool:
    path: Path
    head: Head
    repaired: bool
    parts: list[Part] = field(default_factory=list)
    size: int = 0
    breaks_in_quotes: bool = False
    long_lines: bool = False

    def relation(self, con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyRelation:
        seen = Look(self.head.delimiter, long_lines=self.long_lines)
        return csvfile.read(
            con, self.path, self.head, skip=0, packing="none", in_parallel=not self.breaks_in_quotes, seen=seen
        )


class Spools:
    """One spool for each layout that was met; a full one is handed over and begun anew."""

    def __init__(self, keep: ExitStack) -> None:
        self._folder = Path(keep.enter_context(tempfile.TemporaryDirectory(prefix="trajlab-")))
        self._open: dict[tuple[Head, bool], Spool] = {}
        self._numbers = itertools.count()

    def whole(self, file: DataFile) -> bytes | None:
        """The content of a small file, unpacked; None for a large one."""
        pieces = csvfile.chunks(file, csvfile.packing_of(file))
        content = b""
        for piece in pieces:
            content += piece
            if len(content) >= csvfile.CHUNK:
                return None
        return content

    def add(self, file: DataFile, content: bytes) -> list[Spool]:
        """Write the file to its spool; the spool, if it is full by that."""
        head = csvfile.read_head(file, content)
        seen = look_through([content], head.delimiter)
        body, rows, breaks, faults = content[head.body :], seen.lines - 1, seen.breaks_in_quotes, 0
        if not (seen.utf8 and seen.in_order):
            mender = Mender(head.delimiter, len(head.header))
            body = "".join(mender.mend(csvfile.decoded([body]))).encode()
            rows, breaks, faults = mender.rows, mender.breaks_in_quotes, mender.faults
        spool = self._spool(head, repaired=not seen.utf8)
        with spool.path.open("ab") as end:
            end.write(body if body.endswith((b"\n", b"\r")) else body + b"\n")
        spool.size += len(body)
        spool.breaks_in_quotes |= breaks
        spool.long_lines |= seen.long_lines
        spool.parts.append(Part(file.name, seen.fingerprint, rows, csvfile.remarks(file, head, seen, faults)))
        return [self._open.pop((head, spool.repaired))] if spool.size >= FULL else []

    def rest(self) -> list[Spool]:
        """Every spool that was begun, in the order of their first files."""
        begun = list(self._open.values())
        self._open.clear()
        return begun

    def _spool(self, head: Head, *, repaired: bool) -> Spool:
        if (head, repaired) not in self._open:
            path = self._folder / f"{next(self._numbers)}.csv"
            path.write_bytes((head.delimiter * (len(head.header) - 1)).encode() + b"\n")
            self._open[head, repaired] = Spool(path, head, repaired)
        return self._open[head, repaired]
