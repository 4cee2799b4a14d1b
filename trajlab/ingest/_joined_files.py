"""Thousands of small files are read as one: a statement of the engine costs more than such a file.

CSV files of one layout are written after each other into a temporary file, without their column
names. How many rows each has was counted on the way, so every row is known by its file and its
number there. Each file is read from the disk once, whole. Parquet files stay where they are.
"""

from __future__ import annotations

import itertools
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from trajlab.ingest import _csvfile as csvfile
from trajlab.ingest._csvfile import Head
from trajlab.ingest._files import DataFile, Part, Stamp
from trajlab.ingest._joined_parquet import JoinedParquet, Layout, may_be_joined, read_layout
from trajlab.ingest._quoting import Repair, Scan, scan_quotes
from trajlab.scratch import temporary_folder

FULL = 1 << 26


@dataclass(slots=True)
class JoinedFile:
    path: Path
    head: Head
    repaired: bool
    parts: list[Part] = field(default_factory=list)
    size: int = 0
    breaks_in_quotes: bool = False
    long_lines: bool = False

    def relation(self, con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyRelation:
        scan = Scan(self.head.delimiter, long_lines=self.long_lines)
        return csvfile.read(
            con, self.path, self.head, skip=0, packing="none", in_parallel=not self.breaks_in_quotes, scan=scan
        )


class JoinedFiles:
    """One joined file for each layout that was met; a full one is handed over and begun anew."""

    def __init__(self, cleanup: ExitStack) -> None:
        self._folder = cleanup.enter_context(temporary_folder())
        self._open: dict[tuple[Head, bool] | Layout, JoinedFile | JoinedParquet] = {}
        self._numbers = itertools.count()

    def content(self, file: DataFile) -> bytes | None:
        """The content of a small file, unpacked; None for a large one."""
        pieces = csvfile.chunks(file, csvfile.packing_of(file))
        content = b""
        for piece in pieces:
            content += piece
            if len(content) >= csvfile.CHUNK:
                return None
        return content

    def add(self, file: DataFile, content: bytes) -> list[JoinedFile | JoinedParquet]:
        """Write the file to the joined file of its layout; that one, if it is full now."""
        head = csvfile.read_head(file, content)
        scan = scan_quotes([content], head.delimiter)
        body, rows, breaks, faults = content[head.body :], scan.lines - 1, scan.breaks_in_quotes, 0
        if not (scan.utf8 and scan.in_order):
            repair = Repair(head.delimiter, len(head.header))
            body = "".join(repair.rewrite(csvfile.decode([body]))).encode()
            rows, breaks, faults = repair.rows, repair.breaks_in_quotes, repair.faults
        joined = self._joined_file(head, repaired=not scan.utf8)
        with joined.path.open("ab") as end:
            end.write(body if body.endswith((b"\n", b"\r")) else body + b"\n")
        joined.size += len(body)
        joined.breaks_in_quotes |= breaks
        joined.long_lines |= scan.long_lines
        joined.parts.append(Part(file.name, scan.fingerprint, rows, csvfile.notes_on(file, head, scan, faults)))
        return [self._open.pop((head, joined.repaired))] if joined.size >= FULL else []

    def add_parquet(self, file: DataFile) -> list[JoinedFile | JoinedParquet] | None:
        """Put the file beside those of its layout; these, if they are enough now. None for a large one."""
        stamp = Stamp.of(file)
        layout, rows = read_layout(file)
        if stamp.size >= csvfile.CHUNK or not may_be_joined(layout[0]):
            return None
        joined = self._open.setdefault(layout, JoinedParquet(layout[0]))
        assert isinstance(joined, JoinedParquet)
        joined.add(file, stamp, rows)
        return [self._open.pop(layout)] if joined.size >= FULL else []

    def rest(self) -> list[JoinedFile | JoinedParquet]:
        """Every joined file that is not full, in the order of their first files."""
        rest = list(self._open.values())
        self._open.clear()
        return rest

    def _joined_file(self, head: Head, *, repaired: bool) -> JoinedFile:
        joined = self._open.get((head, repaired))
        if not isinstance(joined, JoinedFile):
            path = self._folder / f"{next(self._numbers)}.csv"
            path.write_bytes((head.delimiter * (len(head.header) - 1)).encode() + b"\n")
            self._open[head, repaired] = joined = JoinedFile(path, head, repaired)
        return joined
