"""Text from records, ids and file names as terminals and spreadsheets may have it: shown, never obeyed.

A terminal takes an escape in somebody's id for a command, a spreadsheet takes a label that begins with `=`
for a formula. `Plain` stands between trajlab and a terminal; `spelled` and `cells` between text and CSV.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    import polars as pl

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What moves a cursor, opens a command or turns the direction of text; line ends and tabs are neither."""
FORMULA = r"^[=+\-@\t\r\n]"
"""How text begins that a spreadsheet would compute."""


def printable(text: str) -> str:
    """The text with control characters spelled out: an escape becomes the four characters \\x1b."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)


def one_line(text: str) -> str:
    """The text with line ends and tabs spelled out too: an id may hold them, and a message is one line."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


class Plain:
    """A stream that shows control characters instead of passing them on; `exact` is the stream itself."""

    def __init__(self, exact: TextIO) -> None:
        self.exact = exact

    def write(self, text: str) -> int:
        self.exact.write(printable(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.exact, name)


def exact(stream: TextIO) -> TextIO:
    """The stream behind a `Plain` one, for what writes its own escapes and for files that others read."""
    return stream.exact if isinstance(stream, Plain) else stream


def spelled(table: str, columns: dict[str, str]) -> str:
    """A select list over a table in which text that looks like a formula begins with an apostrophe."""
    return ", ".join(
        f"case when regexp_matches({table}.\"{name}\", '{FORMULA}') then '''' else '' end || {table}.\"{name}\" "
        f'as "{name}"'
        if kind == "VARCHAR"
        else f'{table}."{name}"'
        for name, kind in columns.items()
    )


def cells(frame: pl.DataFrame) -> pl.DataFrame:
    """The same for a frame, its names included; numbers stay as they are."""
    import polars as pl

    text = pl.col(pl.String, pl.Categorical, pl.Enum).cast(pl.String)
    escaped = frame.with_columns(pl.when(text.str.contains(FORMULA)).then("'" + text).otherwise(text).name.keep())
    return escaped.rename({name: f"'{name}" for name in frame.columns if re.match(FORMULA, name)})
