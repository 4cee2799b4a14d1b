"""What a kind of data is, and which there are.

One file per kind: a module of this package with an attribute `KIND`. Adding a file
adds a kind; there is no list to edit.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

import duckdb

from trajlab.errors import UnknownNameError
from trajlab.ingest.columns import Words
from trajlab.ingest.tables import Table, open_records


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
    opens: Opener = open_records
    place: Callable[..., Placing] = own_coordinates
    reference: str | None = None
    """The argument of `ingest` that brings coordinates: `stations` or `places`."""
    reads_columns: bool = True
    """False where the layout is fixed, and `columns=` has no meaning."""


def load(name: str) -> Kind:
    kinds = _modules()
    if name not in kinds:
        raise UnknownNameError("kind of records", name, kinds)
    return kinds[name]


def names() -> list[str]:
    return sorted(_modules())


def _modules() -> dict[str, Kind]:
    package = importlib.import_module("trajlab.ingest")
    found = {}
    for module in pkgutil.iter_modules(package.__path__):
        kind = getattr(importlib.import_module(f"trajlab.ingest.{module.name}"), "KIND", None)
        if isinstance(kind, Kind):
            found[module.name] = kind
    return found
