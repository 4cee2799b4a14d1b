"""CSV as it comes: any of four delimiters, packed or not, torn lines, stray bytes.

The engine's reader stops at bytes that are not UTF-8, at line breaks inside quotes when it
runs in parallel, and at lines above a set length, and an error inside a transaction cannot
be taken back. So every file is looked through first, in one pass that also takes its
fingerprint. After that each line is a row: missing fields are null, lines with too many
fields carry that as their fault, and empty lines are not rows.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from trajlab.errors import IngestError
from trajlab.ingest.files import DataFile, literal

CHUNK = 1 << 20
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
UNPRINTABLE = "�"


@dataclass(frozen=True, slots=True)
class Csv:
    header: list[str]
    relation: duckdb.DuckDBPyRelation
    fingerprint: str
    repaired: bool
    notes: list[str]


def open_csv(con: duckdb.DuckDBPyConnection, file: DataFile, keep: ExitStack) -> Csv:
    packing = _packing(file)
    header, delimiter, skip = _head(file, packing)
    seen = _look_through(file, packing)
    notes = []
    path = file.path
    if not seen.utf8:
        path = _repair(file, packing, keep)
        packing = "none"
        notes.append(f"{file.name}: some bytes are not UTF-8; rows that need them are rejected")
    if seen.open_quote:
        notes.append(f"{file.name}: the number of quotes is odd; what follows an unclosed one was read as one row")
    if delimiter != ",":
        notes.append(f"{file.name}: the delimiter is a {DELIMITERS[delimiter]}")
    columns = {f"c{i}": "VARCHAR" for i in range(len(header))}
    relation = con.sql(
        _READ,
        params={
            "path": literal(path),
            "columns": {**columns, "beyond": "VARCHAR"},
            "delimiter": delimiter,
            "skip": skip,
            "packing": {"none": "none", "gzip": "gzip", "zstd": "zstd"}[packing],
            "parallel": not seen.breaks_in_quotes,
            "line": 64_000_000 if seen.long_lines else 2_097_152,
            "buffer": 256_000_000 if seen.long_lines else 33_554_432,
        },
    )
    return Csv(header, relation, seen.fingerprint, not seen.utf8, notes)


_READ = """
select
    row_number() over () as source_row,
    case when beyond is not null then 'too many fields' end as fault,
    * exclude (beyond)
from read_csv(
    $path, columns = $columns, delim = $delimiter, skip = $skip, header = true, auto_detect = false,
    quote = '"', escape = '"', null_padding = true, strict_mode = false, compression = $packing,
    parallel = $parallel, max_line_size = $line, buffer_size = $buffer
)
"""


def fingerprint(file: DataFile) -> str:
    """Size and BLAKE2b of the content as it lies on disk."""
    with file.path.open("rb") as opened:
        digest = hashlib.file_digest(opened, lambda: hashlib.blake2b(digest_size=16))
    return f"{file.path.stat().st_size}:{digest.hexdigest()}"


@dataclass(slots=True)
class _Look:
    fingerprint: str = ""
    utf8: bool = True
    breaks_in_quotes: bool = False
    open_quote: bool = False
    long_lines: bool = False


def _look_through(file: DataFile, packing: str) -> _Look:
    seen, size, quotes = _Look(), 0, 0
    digest = hashlib.blake2b(digest_size=16)
    decoder = codecs.getincrementaldecoder("utf-8")()
    for chunk in _chunks(file, packing):
        size += len(chunk)
        digest.update(chunk)
        if seen.utf8 and not (chunk.isascii() and not decoder.getstate()[0]):
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError:
                seen.utf8 = False
        if not seen.breaks_in_quotes and (quotes % 2 or b'"' in chunk):
            seen.breaks_in_quotes = _break_in_quotes(chunk, quotes)
        quotes += chunk.count(b'"')
        seen.long_lines |= len(chunk) == CHUNK and b"\n" not in chunk
    if seen.utf8 and decoder.getstate()[0]:
        seen.utf8 = False
    seen.open_quote = quotes % 2 == 1
    seen.fingerprint = f"{size}:{digest.hexdigest()}"
    return seen


def _break_in_quotes(chunk: bytes, quotes_before: int) -> bool:
    content = np.frombuffer(chunk, np.uint8)
    quotes = np.flatnonzero(content == ord('"'))
    breaks = np.flatnonzero((content == ord("\n")) | (content == ord("\r")))
    return bool(((quotes_before + np.searchsorted(quotes, breaks)) % 2).any())


def _repair(file: DataFile, packing: str, keep: ExitStack) -> Path:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    copy = Path(keep.enter_context(tempfile.TemporaryDirectory(prefix="trajlab-"))) / "repaired.csv"
    with copy.open("w", encoding="utf-8", newline="") as repaired:
        for chunk in _chunks(file, packing):
            repaired.write(decoder.decode(chunk))
        repaired.write(decoder.decode(b"", final=True))
    return copy


def _packing(file: DataFile) -> str:
    with file.path.open("rb") as opened:
        magic = opened.read(4)
    if magic.startswith(b"\x1f\x8b"):
        return "gzip"
    if magic == b"\x28\xb5\x2f\xfd":
        return "zstd"
    if magic.startswith(b"PK"):
        raise IngestError(f"{file.name}: a zip archive or spreadsheet; unpack it or save it as CSV")
    return "none"


def _chunks(file: DataFile, packing: str) -> Iterator[bytes]:
    compression = None if packing == "none" else packing
    try:
        with pa.input_stream(str(file.path), compression=compression, buffer_size=CHUNK) as stream:
            while chunk := stream.read(CHUNK):
                yield chunk
    except OSError as error:
        raise IngestError(f"{file.name}: cannot be unpacked, it is damaged or cut off") from error


def _head(file: DataFile, packing: str) -> tuple[list[str], str, int]:
    """Column names, the delimiter, and the number of empty lines above the names."""
    start = next(_chunks(file, packing), b"")
    if not start.strip():
        raise IngestError(f"{file.name}: the file is empty")
    if start.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in start[:100]:
        raise IngestError(f"{file.name}: not UTF-8 but UTF-16 or binary; save it as UTF-8 text")
    text = start.decode("utf-8-sig", errors="replace")
    body = text.lstrip("\r\n")
    skip = len(text[: len(text) - len(body)].splitlines())
    names: list[str] = []
    delimiter = ","
    for candidate in DELIMITERS:
        try:
            fields = next(csv.reader(io.StringIO(body, newline=""), delimiter=candidate))
        except csv.Error as error:
            raise IngestError(f"{file.name}: the first line is too long to be column names") from error
        if len(fields) > len(names):
            names, delimiter = fields, candidate
    if _looks_like_data(names):
        raise IngestError(
            f"{file.name}: the first line looks like data, not like column names; "
            "put a line such as uid,ts,lat,lng above it"
        )
    if len(names) < 2:
        raise IngestError(
            f"{file.name}: only one column found: wrong delimiter? It should be a comma, a semicolon, a tab or a bar"
        )
    named = [name.strip() or f"column {i + 1}" for i, name in enumerate(names)]
    twice = [name for i, name in enumerate(named) if name in named[:i]]
    if twice:
        raise IngestError(f"{file.name}: column {twice[0]!r} appears twice")
    return named, delimiter, skip


def _looks_like_data(names: list[str]) -> bool:
    data = [name for name in names if re.match(r"\s*([-+]?\d|nan\b|inf\b)", name, re.IGNORECASE)]
    return 2 * len(data) >= len(names)
