"""What a kind of data is, and which there are.

One file per kind: a module of this package with an attribute `KIND`. Adding a file
adds a kind; there is no list to edit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

import duckdb

from trajlab import plugins
from trajlab.ingest._columns import Words
from trajlab.ingest._tables import Table, open_records


@dataclass(frozen=True, slots=True)
class Placing:
    """Where the coordinates of one source come from, and which rows lack a place."""

    mapping: dict[str, str]
    gazetteer: str | None = None
    """A query of `place, lat, lng` that gives coordinates to rows without their own."""
    coordinates_needed: bool = True
    missing: str | None = None
    """Reason for a row that names no place; None where that is fine."""
    unknown: str | None = None
    """Reason for a row whose place the gazetteer does not have; None where that is fine."""


def own_coordinates(
    con: duckdb.DuckDBPyConnection, mapping: dict[str, str], where: str, *, reference_given: bool
) -> Placing:
    del con, where, reference_given
    return Placing(mapping)


Opener = Callable[[duckdb.DuckDBPyConnection, object, ExitStack, list[str]], Iterator[Table]]


@dataclass(frozen=True, slots=True)
class Kind:
    columns: Mapping[str, Words]
    needs: tuple[str, ...]
    open_source: Opener = open_records
    place: Callable[..., Placing] = own_coordinates
    reference: str | None = None
    """The argument of `ingest` that brings coordinates: `stations` or `places`."""
    reads_columns: bool = True
    """False where the layout is fixed, and `columns=` has no meaning."""


def find_kind(name: str) -> Kind:
    kind: Kind = plugins.load("trajlab.ingest", name, "kind of records").KIND
    return kind


def names() -> list[str]:
    return plugins.names("trajlab.ingest")
