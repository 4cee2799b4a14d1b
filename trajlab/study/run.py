"""What changes what an attack recovers: cells, slots, people or protection varied (xu2017, section 5.3).

`study(lab, index=["square:250", "square:500", "square:1000"])` makes one release for each
setting, attacks each, and returns the scores as a table and a chart. Releases and runs are
those of `lab.release` and `lab.attack`: kept in the lab, made once, and to be found in
`report.every_metric`, so the same study asked again only reads them.
"""

from __future__ import annotations

import datetime as dt
import inspect
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from trajlab import attacks
from trajlab.errors import AttackError, ReleaseError, UnknownNameError
from trajlab.metrics.pairing import PAIRINGS
from trajlab.progress import Steps
from trajlab.release.grid import refuse_index
from trajlab.release.making import Settings
from trajlab.release.slots import slot_seconds

if TYPE_CHECKING:
    from trajlab.lab import Lab
    from trajlab.release import Release

Slot = str | int | dt.timedelta
FACTORS = ("index", "slot_minutes", "people", "recipe")
"""Columns of a study's table that a study can vary."""


@dataclass(frozen=True)
class Study:
    """The scores of a study, and the factors that it varied.

    `table` has one row per setting, attack and score: `index`, `slot_minutes`, `people`, `recipe` and `cells` of
    the release, then `attack`, `of`, `metric`, `level`, `pairing`, `estimate`, `low`, `high`, the yardsticks
    `shuffle` and `stay`, and the ids under which the lab keeps them.
    """

    factors: tuple[str, ...]
    table: pl.DataFrame

    def chart(self) -> str:
        """Accuracy by stage and top-k uniqueness over what was varied, as the text of an SVG file."""
        from trajlab.report import factors

        return factors.svg(self)

    def save(self, path: str | Path) -> Path:
        """Write the chart: `.svg` or `.png` for the drawing alone, `.html` for a page with its numbers."""
        from trajlab.report import factors, save

        return save(path, "study", svg=lambda: factors.svg(self), html=lambda: factors.html(self))

    def __repr__(self) -> str:
        settings = len(self.table.select(*FACTORS).unique())
        return f"<Study of {' and '.join(self.factors)}: {settings} releases, {len(self.table)} scores>"


@dataclass(frozen=True, slots=True)
class _Case:
    """One release of a study, as asked for."""

    index: str
    slot: int
    people: int | None
    protect: tuple[str, ...] = ()

    def __str__(self) -> str:
        who = "everybody" if self.people is None else f"{self.people:,} people"
        return ", ".join([self.index, f"{self.slot / 60:g} min", who, *self.protect])


def study(
    lab: Lab,
    *,
    attack: str | Sequence[str] = "xu2017",
    index: str | Sequence[str] = "square:500",
    slot: Slot | Sequence[Slot] = "30min",
    people: int | Sequence[int | None] | None = None,
    protect: str | Sequence[str | None] | None = None,
    seed: int = 0,
    pairing: str = "both",
    **settings: Any,
) -> Study:
    """Vary one of index, slot, people and protect (or several, in all combinations) and attack each release.

    Give what is to vary as a list; a recipe of `protect` is a text such as "suppress:15" or "suppress:15 round:5", None
    for counts as they are. `settings` are those of `lab.release`, the same for every release; `seed`
    is that of samples and of attacks. Every release is made, and refused where an attack could
    not use it, before the first attack begins.
    """
    names = each_once("attack", attack)
    cases = [
        _Case(*case)
        for case in itertools.product(
            each_once("index", index),
            dict.fromkeys(map(slot_seconds, each_once("slot", slot))),
            [int(size) if isinstance(size, Integral) else size for size in each_once("people", people)],
            dict.fromkeys(tuple((recipe or "").split()) for recipe in each_once("protect", protect)),
        )
    ]
    _check(lab, names, cases, seed, pairing, settings)
    steps = Steps(len(cases) * (1 + len(names)), lab._progress)
    made: list[str] = []
    for case in cases:
        steps.next(f"release with {case}")
        release = lab.release(case.index, case.slot, people=case.people, protect=case.protect, seed=seed, **settings)
        _check_release(lab, case, release, names)
        made.append(release.id)
    runs: list[tuple[int, str]] = []
    for (n, release_id), name in itertools.product(enumerate(made), names):
        steps.next(f"{name} on {cases[n]}")
        runs.append((n, lab.attack(lab.published(release_id), name, seed=seed, pairing=pairing).id))
    return _collect(lab, cases, runs)


def each_once(name: str, value: Any) -> list[Any]:
    """What was given as a list, each value once; one value is a list of one."""
    if value is None or isinstance(value, str | Integral | dt.timedelta) or not isinstance(value, Iterable):
        return [value]
    values = list(dict.fromkeys(value))
    if not values:
        raise ReleaseError(f"{name}=[] leaves nothing to study: give at least one value")
    return values


def _check(lab: Lab, names: list[str], cases: list[_Case], seed: int, pairing: str, settings: dict[str, Any]) -> None:
    """Refuse what can be refused before anything is made."""
    if len(cases) < 2:
        raise ReleaseError(
            "this study varies nothing: give index, slot, people or protect as a list of at least two, "
            'such as index=["square:500", "square:1000"]'
        )
    for name in names:
        attacks.load(name)
    if pairing not in ("both", *PAIRINGS):
        raise UnknownNameError("pairing", pairing, ["both", *PAIRINGS])
    known = set(inspect.signature(type(lab).release).parameters) - {
        "self",
        "index",
        "slot",
        "people",
        "protect",
        "seed",
    }
    for setting in settings:
        if setting not in known:
            raise UnknownNameError("setting of a release", setting, known)
    asked = [
        Settings(index=case.index, slot=case.slot, people=case.people, protect=case.protect, seed=seed, **settings)
        for case in cases
    ]
    largest = max((case.people for case in cases if case.people is not None), default=0)
    there = int(lab.sql("select count(distinct person) as people from records.fix")["people"][0])
    if largest > there:
        raise ReleaseError(f"people={largest:,} were asked for, and the lab has records of {there:,}: ask for fewer")
    for cells, box in dict.fromkeys((each.index, each.box) for each in asked):
        refuse_index(lab._store, cells, box)


def _check_release(lab: Lab, case: _Case, release: Release, names: list[str]) -> None:
    for name in names:
        try:
            release.require(*attacks.load(name).requires)
        except ReleaseError as error:
            raise AttackError(f"{name} on {case}: {error}") from error


def _collect(lab: Lab, cases: list[_Case], runs: list[tuple[int, str]]) -> Study:
    settings = pl.DataFrame(
        {
            "index": [cases[n].index for n, _ in runs],
            "slot_minutes": [cases[n].slot / 60 for n, _ in runs],
            "recipe": [" ".join(cases[n].protect) for n, _ in runs],
            "run_id": [run_id for _, run_id in runs],
        }
    )
    scores = lab.sql(
        "select * exclude (index_name, slot_minutes) from study.score where run_id in (select unnest($runs))",
        runs=settings["run_id"].to_list(),
    ).sort("of", "metric", "level", "pairing")
    table = settings.join(scores, on="run_id", maintain_order="left_right")
    first, last = [*FACTORS, "cells"], ["release_id", "run_id"]
    table = table.select(*first, pl.exclude(*first, *last), *last)
    varied: dict[str, list[Any]] = {
        "index": [case.index for case in cases],
        "slot_minutes": [case.slot for case in cases],
        "people": [case.people for case in cases],
        "recipe": [case.protect for case in cases],
    }
    return Study(tuple(name for name, values in varied.items() if len(set(values)) > 1), table)
