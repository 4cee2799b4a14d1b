"""Quotes in CSV: whether they are in order, and what is left of a file in which they are not.

In order means: a quote opens at the start of a field, closes at its end, and is doubled in
between. Of such a file the engine reads every row. Of any other it may take one quote for
another and swallow the rows between, so that file is written anew: records that can be read
alone stay, and a line that cannot becomes one row with the fault `STRAY`. The search goes on
with the very next line, so that one quote never costs more than its own line.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

STRAY = "stray quote"
LONGEST = 1 << 22
"""Characters of a record with line breaks in a file that is repaired; after these its quote counts as unclosed."""

_QUOTE, _LF, _CR = b'"\n\r'


@dataclass(slots=True)
class Scan:
    """What one pass over the bytes tells, without the engine."""

    delimiter: str
    size: int = 0
    lines: int = 0
    """Lines that hold anything, the column names among them; a line break in quotes ends none."""
    utf8: bool = True
    in_order: bool = True
    breaks_in_quotes: bool = False
    long_lines: bool = False
    _digest: hashlib.blake2b = field(default_factory=lambda: hashlib.blake2b(digest_size=16))
    _decoder: codecs.IncrementalDecoder = field(default_factory=codecs.getincrementaldecoder("utf-8"))
    _quotes: int = 0
    _last: int = _LF

    @property
    def fingerprint(self) -> str:
        return f"{self.size}:{self._digest.hexdigest()}"

    def add(self, chunk: bytes) -> None:
        text = chunk if self.size else chunk.removeprefix(codecs.BOM_UTF8)
        self.size += len(chunk)
        self._digest.update(chunk)
        self._check_encoding(chunk)
        self.long_lines |= len(chunk) > 1 << 19 and b"\n" not in chunk
        self._count(text)

    def close(self) -> None:
        self.utf8 = self.utf8 and not self._decoder.getstate()[0]
        self.in_order = self.in_order and self._quotes % 2 == 0
        self.lines += self._last not in (_LF, _CR)

    def _check_encoding(self, chunk: bytes) -> None:
        if self.utf8 and not (chunk.isascii() and not self._decoder.getstate()[0]):
            try:
                self._decoder.decode(chunk)
            except UnicodeDecodeError:
                self.utf8 = False

    def _count(self, chunk: bytes) -> None:
        if not chunk or not self.in_order:
            return
        content = np.frombuffer(chunk, np.uint8)
        if self._quotes % 2 or self._last == _QUOTE or b'"' in chunk:
            self._count_with_quotes(content)
        else:
            breaks = content == _LF if b"\r" not in chunk else (content == _LF) | (content == _CR)
            self.lines += int(np.count_nonzero(breaks[1:] > breaks[:-1]))
            self.lines += bool(breaks[0]) and self._last not in (_LF, _CR)
        self._last = chunk[-1]

    def _count_with_quotes(self, content: npt.NDArray[np.uint8]) -> None:
        before = np.empty_like(content)
        before[0], before[1:] = self._last, content[:-1]
        quotes = np.flatnonzero(content == _QUOTE)
        breaks = np.flatnonzero((content == _LF) | (content == _CR))
        borders = np.zeros(256, np.bool_)
        borders[[ord(self.delimiter), _LF, _CR, _QUOTE]] = True
        first = self._quotes % 2
        opening, closing = quotes[first::2], quotes[1 - first :: 2]
        closed_before = self._last == _QUOTE and first == 0 and self._quotes > 0
        after = content[closing[closing + 1 < len(content)] + 1]
        self.in_order = (
            bool(borders[before[opening]].all())
            and bool(borders[after].all())
            and not (closed_before and not borders[content[0]])
        )
        inside = (self._quotes + np.searchsorted(quotes, breaks)) % 2 == 1
        self.breaks_in_quotes |= bool(inside.any())
        ends = before[breaks[~inside]]
        self.lines += int(((ends != _LF) & (ends != _CR)).sum())
        self._quotes += len(quotes)


def scan_quotes(chunks: Iterable[bytes], delimiter: str) -> Scan:
    scan = Scan(delimiter)
    for chunk in chunks:
        scan.add(chunk)
    scan.close()
    return scan


class Repair:
    """Rewrites text so that every line is accounted for; counts the rows and the lines at fault."""

    def __init__(self, delimiter: str, columns: int) -> None:
        d = re.escape(delimiter)
        ends = rf"(?=[{d}\r\n]|\Z)"
        quoted = r'"[^"]*+(?:""[^"]*+)*"'
        bare = rf'(?! *")[^{d}\r\n]*+'
        either = rf" *{quoted} *{ends}|{bare}"
        self._field = re.compile(rf" *({quoted}) *{ends}|({bare})")
        self._record = re.compile(rf"(?:{either})(?:{d}(?:{either}))*(?:\r\n|\n|\r|\Z)")
        self._fault = delimiter * columns + STRAY + "\n"
        self.rows = 0
        self.faults = 0
        self.breaks_in_quotes = False

    def rewrite(self, pieces: Iterable[str]) -> Iterator[str]:
        waiting = ""
        for piece in pieces:
            waiting += piece
            if len(waiting) >= 2 * LONGEST:
                text, end = self._rewrite(waiting, len(waiting) - LONGEST, at_end=False)
                waiting = waiting[end:]
                yield text
        yield self._rewrite(waiting, len(waiting), at_end=True)[0]

    def _rewrite(self, text: str, until: int, *, at_end: bool) -> tuple[str, int]:
        out: list[str] = []
        at = 0
        while at < until:
            if run := _QUOTELESS.match(text, at, until):
                out.append(run[0])
                self.rows += sum(map(bool, re.split(r"[\r\n]+", run[0])))
                at = run.end()
                continue
            record = self._record.match(text, at)
            if record and (at_end or record.end() < len(text)):
                out.append(self._in_order(record[0]))
                at = record.end()
            else:
                out.append(self._fault)
                self.faults += 1
                line = _LINE.match(text, at)
                at = line.end() if line else until
            self.rows += 1
        return "".join(out), at

    def _in_order(self, record: str) -> str:
        body = record.rstrip("\r\n")
        self.breaks_in_quotes |= "\n" in body or "\r" in body
        return self._field.sub(_quoted, body) + "\n"


def _quoted(found: re.Match[str]) -> str:
    quoted, bare = found.groups()
    if quoted is not None:
        return str(quoted)
    return '"' + bare.replace('"', '""') + '"' if '"' in bare else str(bare)


_QUOTELESS = re.compile(r'(?:[^"\r\n]*+(?:\r\n|\n|\r))+')
_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\n|\r|\Z)")
