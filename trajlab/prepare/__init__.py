"""From a public download to one of the five sub-datasets of dsilva2024, table I.

A recipe holds, as data, every number that the making depends on; `docs/prepare.md` says
where each comes from. Recipes live in the modules of this package, in a dict `RECIPES`;
a new module needs no registering.

    download -> recipe -> records, release settings -> lab -> release
"""

from __future__ import annotations

import json
import math
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from trajlab import plugins
from trajlab.engine.duckdb import DuckDB, translate_errors
from trajlab.errors import IngestError, UnknownNameError
from trajlab.ingest._csvfile import fingerprint
from trajlab.ingest._files import DataFile
from trajlab.schema import create_functions
from trajlab.scratch import temporary_folder

if TYPE_CHECKING:
    import duckdb

    from trajlab.lab import Lab
    from trajlab.release import Release

EXACT = 1000
"""Steps of a degree that a published study box is rounded to, outwards: it shows nobody's coordinates."""


@dataclass(frozen=True, slots=True)
class Size:
    """How large a sub-dataset is: a row of table I."""

    people: int
    cells: int
    slots: int


@dataclass(frozen=True, slots=True)
class Draft:
    """What a recipe makes of a download, before anything enters a lab."""

    records: pl.DataFrame
    """uid, ts, lat, lng."""
    release: dict[str, Any]
    """The arguments of `Lab.release`."""
    steps: list[str]
    """What each step left, in order: to be compared with the numbers in docs/prepare.md."""
    zones: dict[str, Any] | None = None
    """The cells as GeoJSON, where they are not squares in metres."""


class Recipe(Protocol):
    @property
    def published(self) -> Size:
        """What table I says of the sub-dataset."""
        ...

    def follow(self, con: duckdb.DuckDBPyConnection, download: Path) -> Draft: ...


@dataclass(frozen=True)
class Prepared:
    """A sub-dataset in its lab; as text, every step and how the result compares with table I."""

    dataset: str
    release: Release
    published: Size
    steps: list[str] = field(repr=False)

    @property
    def size(self) -> Size:
        return Size(self.release.people, len(self.release.cells), self.release.slots)

    def __str__(self) -> str:
        lines = [f"  {step}" for step in self.steps]
        lines += [f"{self.dataset}: release {self.release.id}", f"  {'':<7}{'here':>9}{'table I':>9}"]
        for name in ("people", "cells", "slots"):
            lines.append(f"  {name:<7}{getattr(self.size, name):>9,}{getattr(self.published, name):>9,}")
        return "\n".join(lines)


def prepare(
    lab: Lab,
    dataset: str | Recipe,
    download: str | Path,
    *,
    memory_limit: str | None = None,
    threads: int | None = None,
) -> Prepared:
    """Make a sub-dataset of a download: its records and its one release, in a lab that holds no others.

    `dataset` is one of `names()`, or a recipe with numbers of your own
    (`dataclasses.replace(recipe("geolife-37"), months=4)`). The download is only read.
    """
    name, chosen = (dataset, recipe(dataset)) if isinstance(dataset, str) else (_name(dataset), dataset)
    records_of = f"{name}.parquet"
    _refuse_others(lab, "select count(*) from records.source where name <> $own", records_of)
    with (
        translate_errors(f"preparing {name}"),
        closing(open_scratch(memory_limit=memory_limit, threads=threads)) as engine,
        lab._progress.step(f"reading {Path(download).name} for {name}", poll=engine.percent_done),
    ):
        draft = chosen.follow(engine.con, Path(download))
    with temporary_folder() as folder:
        records = folder / records_of
        draft.records.write_parquet(records)
        own = fingerprint(DataFile(records, records_of))
        _refuse_others(lab, "select count(*) from records.source where fingerprint <> $own", own)
        if draft.zones is not None:
            zones = folder / f"{name}.geojson"
            zones.write_text(json.dumps(draft.zones), encoding="utf-8")
            lab.geography(zones=zones)
        lab.ingest(records, tz=draft.release["tz"])
    return Prepared(name, lab.release(**draft.release), chosen.published, draft.steps)


def open_scratch(*, memory_limit: str | None = None, threads: int | None = None) -> DuckDB:
    """An engine in memory, with the functions that recipes use."""
    engine = DuckDB(":memory:", memory_limit=memory_limit, threads=threads)
    create_functions(engine)
    return engine


def _refuse_others(lab: Lab, count_others: str, own: str) -> None:
    """Records of the same preparation may be there: it was interrupted before its release, and goes on."""
    if lab.sql(count_others, own=own).item():
        raise IngestError("the lab already holds records, and a release counts everybody in it: prepare into a new lab")


def recipe(name: str) -> Recipe:
    if name not in _recipes():
        raise UnknownNameError("sub-dataset", name, names())
    return _recipes()[name]


def names() -> tuple[str, ...]:
    return tuple(sorted(_recipes()))


def whole_degrees(low: tuple[float, float], high: tuple[float, float]) -> tuple[float, float, float, float]:
    """A study box from its corners (lng, lat), rounded outwards to thousandths; never empty."""
    west, south = (math.floor(side * EXACT) / EXACT for side in low)
    east, north = ((math.floor(side * EXACT) + 1) / EXACT for side in high)
    return west, south, east, north


@cache
def _recipes() -> dict[str, Recipe]:
    return {name: made for plugin in plugins.load_all(__name__).values() for name, made in plugin.RECIPES.items()}


def _name(changed: Recipe) -> str:
    return f"{type(changed).__name__.lower()}-changed"
