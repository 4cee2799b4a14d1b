"""CSV as it comes: any of four delimiters, packed or not, torn lines, stray bytes and quotes.

The engine's reader stops at bytes that are not UTF-8, at line breaks inside quotes when it
runs in parallel, and at lines above a set length, swallows rows between stray quotes, and an
error inside a transaction cannot be taken back. So every file is looked through first, in one
pass that also takes its fingerprint and counts its lines. After that each line is a row:
missing fields are null, lines at fault carry that, and empty lines are not rows.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pyarrow as pa

from trajlab.errors import IngestError
from trajlab.ingest._files import DataFile, literal
from trajlab.ingest._quoting import STRAY, Repair, Scan, scan_quotes
from trajlab.scratch import temporary_folder

CHUNK = 1 << 20
WIDEST = 1000
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
UNPRINTABLE = "�"
LINE_FAULTS = (STRAY, "too many fields", "not UTF-8")


@dataclass(frozen=True, slots=True)
class Head:
    """How a file is laid out, from its first lines."""

    header: tuple[str, ...]
    delimiter: str
    commas: tuple[str, ...]
    """Columns whose numbers have a decimal comma."""
    skip: int = field(compare=False)
    """Empty lines above the column names."""
    body: int = field(compare=False)
    """Where the rows start, in bytes."""


@dataclass(frozen=True, slots=True)
class Csv:
    head: Head
    relation: duckdb.DuckDBPyRelation
    fingerprint: str
    rows: int
    repaired: bool
    notes: list[str]


def open_csv(con: duckdb.DuckDBPyConnection, file: DataFile, cleanup: ExitStack) -> Csv:
    packing = packing_of(file)
    head = read_head(file, next(chunks(file, packing), b""))
    scan = scan_quotes(chunks(file, packing), head.delimiter)
    path, rows, breaks_in_quotes, faults = file.path, scan.lines - 1, scan.breaks_in_quotes, 0
    if not (scan.utf8 and scan.in_order):
        path = cleanup.enter_context(temporary_folder()) / "repaired.csv"
        repair = Repair(head.delimiter, len(head.header))
        with path.open("w", encoding="utf-8", newline="") as repaired:
            repaired.writelines(repair.rewrite(decode(chunks(file, packing))))
        packing, rows, breaks_in_quotes, faults = "none", repair.rows - 1, repair.breaks_in_quotes, repair.faults
    relation = read(con, path, head, skip=head.skip, packing=packing, in_parallel=not breaks_in_quotes, scan=scan)
    return Csv(head, relation, scan.fingerprint, rows, not scan.utf8, notes_on(file, head, scan, faults))


def notes_on(file: DataFile, head: Head, scan: Scan, faults: int) -> list[str]:
    notes = []
    if not scan.utf8:
        notes.append(f"{file.name}: some bytes are not UTF-8; rows that need them are rejected")
    if faults:
        notes.append(f"{file.name}: {faults:,} lines have a quote that is not closed or not doubled, and are rejected")
    if head.delimiter != ",":
        notes.append(f"{file.name}: the delimiter is a {DELIMITERS[head.delimiter]}")
    return notes


def read(
    con: duckdb.DuckDBPyConnection,
    path: Path,
    head: Head,
    *,
    skip: int,
    packing: str,
    in_parallel: bool,
    scan: Scan,
) -> duckdb.DuckDBPyRelation:
    columns = {f"c{i}": "VARCHAR" for i in range(len(head.header))}
    return con.sql(
        _READ,
        params={
            "path": literal(path),
            "columns": {**columns, "beyond": "VARCHAR"},
            "delimiter": head.delimiter,
            "skip": skip,
            "packing": packing,
            "parallel": in_parallel,
            "line": 64_000_000 if scan.long_lines else 2_097_152,
            "buffer": 256_000_000 if scan.long_lines else 33_554_432,
            "stray": STRAY,
        },
    )


_ROWS = """
from read_csv(
    $path, columns = $columns, delim = $delimiter, skip = $skip, header = true, auto_detect = false,
    quote = '"', escape = '"', null_padding = true, strict_mode = false, compression = $packing,
    parallel = $parallel, max_line_size = $line, buffer_size = $buffer
)
"""
_FAULT = "case when beyond = $stray then beyond when beyond is not null then 'too many fields' end"
_READ = f"select row_number() over () as source_row, {_FAULT} as fault, * exclude (beyond) {_ROWS}"


def fingerprint(file: DataFile) -> str:
    """Size and BLAKE2b of the content as it lies on disk."""
    with file.path.open("rb") as opened:
        digest = hashlib.file_digest(opened, lambda: hashlib.blake2b(digest_size=16))
    return f"{file.path.stat().st_size}:{digest.hexdigest()}"


def packing_of(file: DataFile) -> str:
    with file.path.open("rb") as opened:
        magic = opened.read(4)
    if magic.startswith(b"\x1f\x8b"):
        return "gzip"
    if magic == b"\x28\xb5\x2f\xfd":
        return "zstd"
    if magic.startswith(b"PK"):
        raise IngestError(f"{file.name}: a zip archive or spreadsheet; unpack it or save it as CSV")
    return "none"


def chunks(file: DataFile, packing: str) -> Iterator[bytes]:
    compression = None if packing == "none" else packing
    try:
        with pa.input_stream(str(file.path), compression=compression, buffer_size=CHUNK) as stream:
            while chunk := stream.read(CHUNK):
                yield chunk
    except OSError as error:
        raise IngestError(f"{file.name}: cannot be unpacked, it is damaged or cut off") from error


def decode(pieces: Iterable[bytes]) -> Iterator[str]:
    """Text without a byte order mark; what is not UTF-8 becomes `UNPRINTABLE`."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    for piece in pieces:
        yield decoder.decode(piece)
    yield decoder.decode(b"", final=True)


def read_head(file: DataFile, start: bytes) -> Head:
    if not start.removeprefix(codecs.BOM_UTF8).strip():
        raise IngestError(f"{file.name}: the file is empty")
    if start.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in start[:100]:
        raise IngestError(f"{file.name}: not UTF-8 but UTF-16 or binary; save it as UTF-8 text")
    rest = start.removeprefix(codecs.BOM_UTF8)
    above = len(rest) - len(rest.lstrip(b"\r\n"))
    line = re.match(rb"[^\r\n]*(\r\n|\n|\r)?", rest[above:])
    first = line[0] if line else b""
    names, delimiter = _names(file, first.decode("utf-8", errors="replace"))
    if _looks_like_data(names):
        raise IngestError(
            f"{file.name}: the first line looks like data, not like column names; "
            "put a line such as uid,ts,lat,lng above it"
        )
    if len(names) < 2:
        raise IngestError(
            f"{file.name}: only one column found: wrong delimiter? It should be a comma, a semicolon, a tab or a bar"
        )
    refuse_too_wide(file, len(names))
    named = [name.strip() or f"column {i + 1}" for i, name in enumerate(names)]
    twice = [name for i, name in enumerate(named) if name in named[:i]]
    if twice:
        raise IngestError(f"{file.name}: column {twice[0]!r} appears twice")
    body = len(start) - len(rest) + above + len(first)
    sample = start[body : body + 100_000].decode("utf-8", errors="replace")
    return Head(
        header=tuple(named),
        delimiter=delimiter,
        commas=_with_decimal_commas(named, delimiter, sample),
        skip=len(rest[:above].splitlines()),
        body=body,
    )


def refuse_too_wide(file: DataFile, columns: int) -> None:
    if columns > WIDEST:
        raise IngestError(
            f"{file.name}: {columns:,} columns, and at most {WIDEST:,} are read; "
            "keep those that say who, when and where"
        )


def _names(file: DataFile, line: str) -> tuple[list[str], str]:
    names: list[str] = []
    delimiter = ","
    for candidate in DELIMITERS:
        try:
            fields = next(csv.reader([line], delimiter=candidate))
        except csv.Error as error:
            raise IngestError(f"{file.name}: the first line is too long to be column names") from error
        if len(fields) > len(names):
            names, delimiter = fields, candidate
    if any("\n" in name or "\r" in name for name in names):
        raise IngestError(f"{file.name}: a quote is left open in the line of column names")
    return names, delimiter


def _looks_like_data(names: list[str]) -> bool:
    data = [name for name in names if re.match(r"\s*([-+]?\d|nan\b|inf\b)", name, re.IGNORECASE)]
    return 2 * len(data) >= len(names)


def _with_decimal_commas(names: list[str], delimiter: str, sample: str) -> tuple[str, ...]:
    """Columns in which, as far as the sample goes, most fractions have a decimal comma and none a point."""
    if delimiter == "," and '"' not in sample:
        return ()
    try:
        rows = list(csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter))[:1000]
    except csv.Error:
        return ()
    columns = zip(*(row for row in rows if len(row) == len(names)), strict=True)
    return tuple(name for name, cells in zip(names, columns, strict=False) if _most_have_commas(cells))


def _most_have_commas(cells: tuple[str, ...]) -> bool:
    commas = sum(re.fullmatch(r"\s*[-+]?\d+,\d+\s*", cell) is not None for cell in cells)
    points = any(re.fullmatch(r"\s*[-+]?\d*\.\d+\s*", cell) for cell in cells)
    whole = sum(re.fullmatch(r"\s*[-+]?\d+\s*", cell) is not None for cell in cells)  # says nothing of either
    return 2 * commas > sum(map(bool, cells)) - whole and not points
